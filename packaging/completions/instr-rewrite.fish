complete -c instr-rewrite -s o -l output -d 'Where to write instead of the standard output ("-")' -r -F
complete -c instr-rewrite -l api -d 'One more description of a library; overrides the built-in ones' -r -F
complete -c instr-rewrite -l style -d 'Form of the flags: for the compiler driver, for the linker, or quoted for an @file' -r -f -a "gcc\t'-Wl,--wrap=SYMBOL'
ld\t'--wrap=SYMBOL'
response\t'"--wrap=SYMBOL", quoted for an @file'"
complete -c instr-rewrite -l linkage -d 'What stubs are called: by --wrap, or by objects that went through --redirect' -r -f -a "wrap\t'__wrap_F calls __real_F; for objects that went through --redirect, it is instr_wrap_F too'
rename\t'instr_wrap_F calls F'"
complete -c instr-rewrite -l emit-wrap-flags -d 'Print a --wrap flag for every known function that the files call, one a line'
complete -c instr-rewrite -l emit-stubs -d 'Print the C source of the stubs of these functions'
complete -c instr-rewrite -l list -d 'Tell what would be wrapped, by which description, and what would not and why'
complete -c instr-rewrite -l redirect -d 'Rename undefined references of one object or archive, in place of --wrap'
complete -c instr-rewrite -l memory -d 'Also the heap: malloc and its family, new and delete, mmap'
complete -c instr-rewrite -l json -d 'With --list: JSON instead of a table'
complete -c instr-rewrite -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr-rewrite -s V -l version -d 'Print version'
