"""A page in the browser that shows what a network thinks: `flow` records a search, `answers` says what may be asked,
`server` answers on this computer, `page` makes a file that needs no server. Both show the page in `static`."""
