"""One engine per data folder, however many local clients: the verbs over the owner's socket."""
