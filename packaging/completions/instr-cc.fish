complete -c instr-cc -l instr-target -d 'compiler and flags of a known target' -r -f
complete -c instr-cc -l instr-api -d 'also instrument the functions that FILE describes (may be repeated)' -r -F
complete -c instr-cc -l instr-config -d 'compile these settings into the program (TOML, docs/environment.md)' -r -F
complete -c instr-cc -l instr-dry-run -d 'print what would be run, run nothing'
complete -c instr-cc -l instr-verbose -d 'say what was instrumented, and why something was not'
complete -c instr-cc -l instr-memory -d 'also instrument the heap: malloc and its family, new and delete, mmap'
complete -c instr-cc -l instr-off -d 'be the plain compiler (also: INSTR_CC=off in the environment)'
complete -c instr-cc -l instr-help -d 'print this text'
complete -c instr-cc -l instr-version -d 'print the version'
