complete -c instr-cc -l instr-target -d 'use the compiler and options of a known target (instr doctor lists them)' -r -f
complete -c instr-cc -l instr-api -d 'record the functions that FILE describes too (may be repeated)' -r -F
complete -c instr-cc -l instr-config -d 'build the settings in FILE into the program (TOML, docs/environment.md)' -r -F
complete -c instr-cc -l instr-preload -d 'build the library that instr run preloads into DIR, and nothing else (for packages)' -r -f
complete -c instr-cc -l instr-dry-run -d 'print the command and do not run it'
complete -c instr-cc -l instr-verbose -d 'say what will be recorded, and why something will not'
complete -c instr-cc -l instr-memory -d 'record the heap too: malloc and its family, new and delete, mmap'
complete -c instr-cc -l instr-off -d 'run the plain compiler (also: INSTR_CC=off in the environment)'
complete -c instr-cc -l instr-help -d 'print this help'
complete -c instr-cc -l instr-version -d 'print the version'
