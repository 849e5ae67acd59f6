complete -c instr-rewrite -s o -l output -d 'Output file [default: standard output, which is also -]' -r -F
complete -c instr-rewrite -l api -d 'Use this description of a library too; it overrides the built-in ones' -r -F
complete -c instr-rewrite -l style -d 'Form of the options: for the compiler, for the linker, or quoted for an @file' -r -f -a "gcc\t'-Wl,--wrap=SYMBOL'
ld\t'--wrap=SYMBOL'
response\t'"--wrap=SYMBOL", quoted for an @file'"
complete -c instr-rewrite -l linkage -d 'Names of the stubs: for --wrap, or for objects that went through --redirect' -r -f -a "wrap\t'__wrap_F calls __real_F; for objects that went through --redirect, it is instr_wrap_F too'
rename\t'instr_wrap_F calls F'"
complete -c instr-rewrite -l emit-wrap-flags -d 'Print a --wrap option for each known function that the files call, one on a line'
complete -c instr-rewrite -l emit-stubs -d 'Print the C source of the stubs for these functions'
complete -c instr-rewrite -l list -d 'List the functions that would be recorded, and those that would not, with the reason'
complete -c instr-rewrite -l redirect -d 'Rename the calls in one object or archive, for linkers without --wrap'
complete -c instr-rewrite -l memory -d 'Include the heap: malloc and its family, new and delete, mmap'
complete -c instr-rewrite -l threads -d 'Include threads of POSIX, C11 and C++ on Linux, their locks and waits'
complete -c instr-rewrite -l json -d 'With --list: print JSON, not a table'
complete -c instr-rewrite -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr-rewrite -s V -l version -d 'Print version'
