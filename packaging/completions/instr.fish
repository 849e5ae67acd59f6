# Print an optspec for argparse to handle cmd's options that are independent of any subcommand.
function __fish_instr_global_optspecs
    string join \n h/help V/version
end

function __fish_instr_needs_command
    # Figure out if the current invocation already has a command.
    set -l cmd (commandline -opc)
    set -e cmd[1]
    argparse -s (__fish_instr_global_optspecs) -- $cmd 2>/dev/null
    or return
    if set -q argv[1]
        # Also print the command, so this can be used to figure out what it is.
        echo $argv[1]
        return 1
    end
    return 0
end

function __fish_instr_using_subcommand
    set -l cmd (__fish_instr_needs_command)
    test -z "$cmd"
    and return 1
    contains -- $cmd[1] $argv
end

complete -c instr -n "__fish_instr_needs_command" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_needs_command" -s V -l version -d 'Print version'
complete -c instr -n "__fish_instr_needs_command" -f -a "cc" -d 'Compile and link with tracing, as instr-cc does: instr cc -O2 -fopenmp app.c -o app'
complete -c instr -n "__fish_instr_needs_command" -f -a "c++" -d 'The same with the C++ compiler, c++'
complete -c instr -n "__fish_instr_needs_command" -f -a "fortran" -d 'The same with gfortran'
complete -c instr -n "__fish_instr_needs_command" -f -a "run" -d 'Run a program, record it, and say where its trace is'
complete -c instr -n "__fish_instr_needs_command" -f -a "attach" -d 'Record who runs on which processor of a process that runs already, without touching it'
complete -c instr -n "__fish_instr_needs_command" -f -a "list" -d 'List traces, those of earlier runs too'
complete -c instr -n "__fish_instr_needs_command" -f -a "doctor" -d 'Check what works on this machine'
complete -c instr -n "__fish_instr_needs_command" -f -a "config" -d 'Print compiler options and folders for builds without instr-cc that include <instr/instr.h>'
complete -c instr -n "__fish_instr_needs_command" -f -a "merge" -d 'Convert a trace for Paraver: NAME.prv, NAME.pcf and NAME.row'
complete -c instr -n "__fish_instr_needs_command" -f -a "export" -d 'Convert a trace for other viewers, such as Perfetto'
complete -c instr -n "__fish_instr_needs_command" -f -a "query" -d 'Ask a trace by SQL: its tables of tasks, waits, regions, samples …, or a ready question'
complete -c instr -n "__fish_instr_needs_command" -f -a "summary" -d 'Show where the time went, and what helps; as tables or JSON'
complete -c instr -n "__fish_instr_needs_command" -f -a "processors" -d 'Show who ran on which processor, and who took it from whom: of one trace, or of several that ran at once'
complete -c instr -n "__fish_instr_needs_command" -f -a "diff" -d 'Compare runs before and after a change: what got slower or faster, and whether that is more than noise'
complete -c instr -n "__fish_instr_needs_command" -f -a "report" -d 'Write a page for the browser: what cost most, a time line, tables; one HTML file'
complete -c instr -n "__fish_instr_needs_command" -f -a "live" -d 'Watch a running program: what its threads do, regions, tasks, heap'
complete -c instr -n "__fish_instr_needs_command" -f -a "plot" -d 'Draw a figure for a paper: a Gantt chart, processors, the task graph, power, memory, efficiency, durations, how a sweep scales; SVG, PNG or PDF'
complete -c instr -n "__fish_instr_needs_command" -f -a "timeline" -d 'Draw the time line in the terminal: what each thread, or processor, did when'
complete -c instr -n "__fish_instr_needs_command" -f -a "graph" -d 'Show how parallel the tasks are, and write their graph as a picture or for other tools'
complete -c instr -n "__fish_instr_needs_command" -f -a "predict" -d 'Predict the time with more threads, faster functions, without a lock or with other chunks, and rank what would help most'
complete -c instr -n "__fish_instr_needs_command" -f -a "sweep" -d 'Run a program with several numbers of threads, inputs and more, and show how it scales'
complete -c instr -n "__fish_instr_needs_command" -f -a "repair" -d 'Complete the trace of a killed program, so that every CTF reader can open it'
complete -c instr -n "__fish_instr_needs_command" -f -a "extract" -d 'Get a trace from a board: from the log of its console, a dump of its memory or a core file'
complete -c instr -n "__fish_instr_needs_command" -f -a "symbolize" -d 'Translate addresses to functions, files and lines, as addr2line does'
complete -c instr -n "__fish_instr_needs_command" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
complete -c instr -n "__fish_instr_using_subcommand run" -l config -d 'Settings for the program, which the environment overrides (docs/environment.md), and what to read of the machine meanwhile (docs/series.md): TOML, see instr config --example' -r -F
complete -c instr -n "__fish_instr_using_subcommand run" -s o -l output -d 'Where to write the trace [default: ./NAME.instr]' -r -F
complete -c instr -n "__fish_instr_using_subcommand run" -s q -l quiet -d 'Do not say where the trace is'
complete -c instr -n "__fish_instr_using_subcommand run" -l system -d 'Record who runs on which processor of all programs of the machine, not only of this one (CAP_PERFMON, or kernel.perf_event_paranoid at most 0)'
complete -c instr -n "__fish_instr_using_subcommand run" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand attach" -l config -d 'What to read of the machine and of the process meanwhile (docs/series.md): TOML, see instr config --example' -r -F
complete -c instr -n "__fish_instr_using_subcommand attach" -s o -l output -d 'Where to write the trace [default: ./NAME.instr]' -r -F
complete -c instr -n "__fish_instr_using_subcommand attach" -l for -d 'End after so long, at the latest [default: when the process ends, or by Ctrl-C]' -r
complete -c instr -n "__fish_instr_using_subcommand attach" -s q -l quiet -d 'Do not say where the trace is'
complete -c instr -n "__fish_instr_using_subcommand attach" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand list" -l json -d 'Write JSON: an array with an object for each run'
complete -c instr -n "__fish_instr_using_subcommand list" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand doctor" -l json -d 'Print JSON'
complete -c instr -n "__fish_instr_using_subcommand doctor" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand config" -l cflags -d 'Print the options for the compiler'
complete -c instr -n "__fish_instr_using_subcommand config" -l libs -d 'Print the options for the linker: none, since without instr-cc there is nothing to link'
complete -c instr -n "__fish_instr_using_subcommand config" -l includedir -d 'Print the folder that has instr/instr.h'
complete -c instr -n "__fish_instr_using_subcommand config" -l prefix -d 'Print the folder of the installation'
complete -c instr -n "__fish_instr_using_subcommand config" -l cmakedir -d 'Print the folder of the CMake package: cmake -Dinstr_DIR="$(instr config --cmakedir)"'
complete -c instr -n "__fish_instr_using_subcommand config" -l pkgconfigdir -d 'Print the folder of the pkg-config file, for PKG_CONFIG_PATH'
complete -c instr -n "__fish_instr_using_subcommand config" -l example -d 'Print a configuration for instr run --config with everything that there is'
complete -c instr -n "__fish_instr_using_subcommand config" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand merge" -s o -l output -d 'Name of the three files without their endings [default: the program\'s name]' -r -F
complete -c instr -n "__fish_instr_using_subcommand merge" -l comms -d 'Which lines between tasks to write' -r -f -a "none\t'None'
create\t'From the creation of a task to its execution'
depend\t'From the end of a task to the start of each task that depends on it'
all\t'Both'"
complete -c instr -n "__fish_instr_using_subcommand merge" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand merge" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand merge" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand export" -s f -l format -d 'Format of the output (docs/export.md)' -r -f -a "perfetto\t'For ui.perfetto.dev and trace_processor: NAME.perfetto-trace'
chrome\t'Chrome\'s JSON of trace events, for all that reads it: NAME.chrome.json'
otf2\t'For Vampir and Score-P\'s tools, by the system\'s OTF2 library: a folder NAME.otf2'
folded\t'Stacks with their ns, for flame graphs: NAME.folded'
pprof\t'A profile for go tool pprof and its like: NAME.pb.gz'
speedscope\t'For speedscope.app: NAME.speedscope.json'
parquet\t'Tables (docs/tables.md) for DuckDB, pandas, polars, Spark, Dask: a folder NAME.parquet'
arrow\t'The same tables as files of Arrow (Feather): a folder NAME.arrow'
arrow-mapped\t'The same without compression, which readers map into memory without a copy: a folder NAME.arrow'
csv\t'The same tables as comma-separated values: a folder NAME.csv'
json\t'The same tables as JSON, an object a line: a folder NAME.json'"
complete -c instr -n "__fish_instr_using_subcommand export" -s o -l output -d 'Output file; - is standard output [default: the program\'s name with the ending of the format]' -r -F
complete -c instr -n "__fish_instr_using_subcommand export" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand export" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand export" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand query" -l format -d 'How to write the answer' -r -f -a "table\t'A table for people'
csv\t'Comma-separated values with a header'
json\t'An array with an object for each row'"
complete -c instr -n "__fish_instr_using_subcommand query" -s f -l file -d 'Read the SQL from FILE; - is standard input' -r -F
complete -c instr -n "__fish_instr_using_subcommand query" -s o -l output -d 'Write the answer into FILE; - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand query" -l memory -d 'Memory that the columns of a query may take, MiB' -r
complete -c instr -n "__fish_instr_using_subcommand query" -l time -d 'End a query that takes longer, s' -r
complete -c instr -n "__fish_instr_using_subcommand query" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand query" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand query" -s l -l list -d 'List the questions that have names'
complete -c instr -n "__fish_instr_using_subcommand query" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand summary" -l top -d 'Show at most N rows of each table [default: 40, and 5 on the first screen]' -r
complete -c instr -n "__fish_instr_using_subcommand summary" -l target -d 'Use the power model of this target, or of a description FILE.toml, not that of the trace\'s target' -r
complete -c instr -n "__fish_instr_using_subcommand summary" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand summary" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand summary" -l json -d 'Print JSON (docs/summary-json.md): an object, or an array of objects for several traces'
complete -c instr -n "__fish_instr_using_subcommand summary" -l all -d 'Show the first screen and every section'
complete -c instr -n "__fish_instr_using_subcommand summary" -l threads -d 'States of threads, and the processors they ran on'
complete -c instr -n "__fish_instr_using_subcommand summary" -l processors -d 'Who ran on which processor, of all processes that instr run started'
complete -c instr -n "__fish_instr_using_subcommand summary" -l efficiency -d 'Efficiencies of POP and TALP'
complete -c instr -n "__fish_instr_using_subcommand summary" -l regions -d 'Parallel regions and the load of their threads'
complete -c instr -n "__fish_instr_using_subcommand summary" -l tasks -d 'Explicit tasks and their graph'
complete -c instr -n "__fish_instr_using_subcommand summary" -l loops -d 'Loops, chunks, sections, single, masked, scope, device constructs'
complete -c instr -n "__fish_instr_using_subcommand summary" -l waiting -d 'Barriers, taskwait, critical sections, locks, cancellation'
complete -c instr -n "__fish_instr_using_subcommand summary" -l memory -d 'Heap, mappings, stacks, OpenMP allocators'
complete -c instr -n "__fish_instr_using_subcommand summary" -l functions -d 'Functions of Python: calls, own and total times'
complete -c instr -n "__fish_instr_using_subcommand summary" -l samples -d 'Functions, by samples'
complete -c instr -n "__fish_instr_using_subcommand summary" -l sensors -d 'Sensors, energy, power, counters of threads'
complete -c instr -n "__fish_instr_using_subcommand summary" -l series -d 'What instr run --config read of the machine and of processes meanwhile'
complete -c instr -n "__fish_instr_using_subcommand summary" -l user -d 'The program\'s own regions, counters and events, and described calls'
complete -c instr -n "__fish_instr_using_subcommand summary" -l leaks -d 'Show only memory that was never freed, and the calls that allocated it'
complete -c instr -n "__fish_instr_using_subcommand summary" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand processors" -l csv -d 'Write each time in which a processor ran a thread into FILE, a line each; - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand processors" -l series -d 'Write every value of the series that were read meanwhile into FILE, a line each (docs/series.md); - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand processors" -l svg -d 'Draw the processors over time into FILE; - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand processors" -l by -d 'With --svg: what has a colour of its own; with --csv, section: divide times at the borders of parallel regions, and name these [default: program]' -r -f -a "program\t'The program that ran, or where there are several applications, the application'
application\t'The program that was run, with all that it started'
section\t'The parallel region in which the thread was; "sequential" outside of all'
thread\t'The thread'"
complete -c instr -n "__fish_instr_using_subcommand processors" -l application -d 'With --svg or --csv: tell only the groups of this application apart, the name of its program or the number of its process' -r
complete -c instr -n "__fish_instr_using_subcommand processors" -l top -d 'Show at most N rows of each table [default: 40]' -r
complete -c instr -n "__fish_instr_using_subcommand processors" -l json -d 'Print JSON (docs/summary-json.md)'
complete -c instr -n "__fish_instr_using_subcommand processors" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand diff" -l before -d 'Runs before the change' -r -F
complete -c instr -n "__fish_instr_using_subcommand diff" -l after -d 'Runs after the change' -r -F
complete -c instr -n "__fish_instr_using_subcommand diff" -l fail-if-slower -d 'Exit with status 1 where the run, a region, task or loop is slower by SHARE or more, such as 5%; with several runs only where that is more than noise' -r
complete -c instr -n "__fish_instr_using_subcommand diff" -l level -d 'Largest probability that anything is called slower or faster although nothing is [default: 0.01]' -r
complete -c instr -n "__fish_instr_using_subcommand diff" -l noticeable -d 'Do not call a difference of less than SHARE one [default: 1%]' -r
complete -c instr -n "__fish_instr_using_subcommand diff" -l top -d 'Show at most N rows of each table [default: 40]' -r
complete -c instr -n "__fish_instr_using_subcommand diff" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand diff" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand diff" -l all -d 'Show also what does not differ'
complete -c instr -n "__fish_instr_using_subcommand diff" -l json -d 'Print JSON (docs/diff-json.md)'
complete -c instr -n "__fish_instr_using_subcommand diff" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand report" -s o -l output -d 'Output file; - is standard output [default: the program\'s name with .html]' -r -F
complete -c instr -n "__fish_instr_using_subcommand report" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand report" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand report" -l compare -d 'Compare two runs, or two groups of them (app.1-5, or a folder, as instr diff takes them): both begin at 0, and the differences of regions, tasks and loops come first'
complete -c instr -n "__fish_instr_using_subcommand report" -l open -d 'Open the page in the browser when it is written'
complete -c instr -n "__fish_instr_using_subcommand report" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand live" -l interval -d 'Time between two pictures [default: 0.5]' -r
complete -c instr -n "__fish_instr_using_subcommand live" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand live" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand live" -l once -d 'Print one picture and end, as in a pipe'
complete -c instr -n "__fish_instr_using_subcommand live" -l json -d 'Print one picture as JSON (docs/live.md)'
complete -c instr -n "__fish_instr_using_subcommand live" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand plot" -s k -l kind -d 'What to draw' -r -f -a "gantt\t'What each thread did when: a column has the shares of its states'
cores\t'Which program ran on which processor when, and how many processors were in use'
tdg\t'The graph of the tasks, as instr graph draws it'
power\t'Power of each zone over time'
memory\t'Bytes of the heap in use over time'
efficiency\t'The efficiencies of POP and TALP; of a sweep: speedup per thread'
histogram\t'How often regions and tasks took how long'
time\t'Of a sweep: time over threads, with intervals and the law that fits'
speedup\t'Of a sweep: speedup over threads'
map\t'Of a sweep: efficiency by threads and input'"
complete -c instr -n "__fish_instr_using_subcommand plot" -s o -l output -d 'Output file: NAME.svg, .png or .pdf; - is standard output [default: the program\'s name with the kind, as SVG]' -r -F
complete -c instr -n "__fish_instr_using_subcommand plot" -s f -l format -d 'Format of the picture [default: the ending of FILE, else svg]' -r -f -a "svg\t'Vectors, for browsers and Inkscape'
png\t'Dots'
pdf\t'Vectors, for LaTeX; the font is in it'"
complete -c instr -n "__fish_instr_using_subcommand plot" -l size -d 'Width and height in millimetres; 85x60mm fits a column of a paper [default: 160x90mm; of tdg what it needs]' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l dpi -d 'Dots of an inch (PNG)' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l by -d 'Of cores: what has a colour of its own [default: program]' -r -f -a "program\t'The program that ran, or where there are several applications, the application'
application\t'The program that was run, with all that it started'
section\t'The parallel region in which the thread was; "sequential" outside of all'
thread\t'The thread'"
complete -c instr -n "__fish_instr_using_subcommand plot" -l application -d 'Of cores: tell only the groups of this application apart, the name of its program or the number of its process' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l series -d 'Of cores: draw series below it that have TEXT in MODULE/NAME, as instr summary --series lists them; several can be given' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l from -d 'Begin with this time of the session, such as 12ms or 1.5s' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l to -d 'End with this time' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l region -d 'Show the longest execution of the region, task or region of the program\'s own that has TEXT in its name' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l thread -d 'Show only these threads: numbers, ranges or parts of names, such as 0,4-7 or worker' -r
complete -c instr -n "__fish_instr_using_subcommand plot" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand plot" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand plot" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand timeline" -l by -d 'What the rows are' -r -f -a "thread\t'Threads'
processor\t'Processors, where instr run recorded who ran on them'"
complete -c instr -n "__fish_instr_using_subcommand timeline" -l show -d 'What the cells show of a thread' -r -f -a "states\t'The state with the largest share of the cell\'s time'
regions\t'The region or task that ran longest'"
complete -c instr -n "__fish_instr_using_subcommand timeline" -l from -d 'Begin with this time of the session, such as 12ms or 1.5s' -r
complete -c instr -n "__fish_instr_using_subcommand timeline" -l to -d 'End with this time' -r
complete -c instr -n "__fish_instr_using_subcommand timeline" -l region -d 'Show the longest execution of the region, task or region of the program\'s own that has TEXT in its name' -r
complete -c instr -n "__fish_instr_using_subcommand timeline" -l thread -d 'Show only these threads: numbers, ranges or parts of names, such as 0,4-7 or worker' -r
complete -c instr -n "__fish_instr_using_subcommand timeline" -l width -d 'Characters of a line, from 40 to 1000; with --json, columns of time [default: those of the terminal, else 80]' -r
complete -c instr -n "__fish_instr_using_subcommand timeline" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand timeline" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand timeline" -l json -d 'Print JSON: the time of each cell in each state (docs/terminal.md)'
complete -c instr -n "__fish_instr_using_subcommand timeline" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand graph" -s f -l format -d 'Format of the graph [default: the ending of FILE; without one, only the tables are shown]' -r -f -a "dot\t'Graphviz'
graphml\t'For yEd, Gephi, networkx and others'
json\t'Everything (docs/graph-json.md)'
svg\t'A picture'"
complete -c instr -n "__fish_instr_using_subcommand graph" -s o -l output -d 'Output file: NAME.dot, .graphml, .json, .svg, or .txt for the tables; - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand graph" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand graph" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand graph" -l all-tasks -d 'Draw every task, however large the picture gets (SVG)'
complete -c instr -n "__fish_instr_using_subcommand graph" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand predict" -l threads -d 'Numbers of threads, from 1 to 1024: 1,2,4 or 1:8 [default: 1,2,4,8,16,32,64]' -r
complete -c instr -n "__fish_instr_using_subcommand predict" -l faster -d 'What if FUNCTION (a task, region or loop, by its name, file:line or label; "serial": all outside of regions) took half the time? 0 in place of 2x: no time' -r
complete -c instr -n "__fish_instr_using_subcommand predict" -l without-lock -d 'What if there were no lock of this name, or at this address?' -r
complete -c instr -n "__fish_instr_using_subcommand predict" -l chunk -d 'What if chunks of loops had N iterations?' -r
complete -c instr -n "__fish_instr_using_subcommand predict" -l costs -d 'A trace of any program with several threads on that machine: its costs of starting threads, waking them up and so on are taken where the predicted run has one thread and cannot show them (docs/predict.md)' -r -F
complete -c instr -n "__fish_instr_using_subcommand predict" -l exe -d 'Take function names from this PROGRAM, not from the path in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand predict" -l sysroot -d 'Look for the program and its libraries below DIR: a copy of the system where it ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand predict" -l json -d 'Print JSON (docs/predict.md)'
complete -c instr -n "__fish_instr_using_subcommand predict" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand sweep" -s t -l threads -l cors -d 'Numbers of threads: 1,2,4 or 1:8' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -s i -l inputs -l ipts -d 'Inputs: words for {input}, or for the end of the command line; several are separated by ;' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l programs -d 'What {program} stands for, separated by ;' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -s f -l freq -l frqs -d 'Clocks of the processors, kHz' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l governor -l govr -d 'The governor of the clocks while the sweep runs' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l placement -d 'Which processors may be used: several are swept' -r -f -a "any\t'All that this process may use'
compact\t'As many as threads, the first ones'
spread\t'As many as threads, as far apart as possible'"
complete -c instr -n "__fish_instr_using_subcommand sweep" -l smt -d 'Hardware threads of the cores (SMT), switched for the whole machine and back: several are swept' -r -f -a "on\t'Each core has all of them'
off\t'Each core has one thread'"
complete -c instr -n "__fish_instr_using_subcommand sweep" -l env -d 'A variable of the environment with its values' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -s r -l repeat -l rpts -d 'Runs of each combination [default: 5]' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l until -d 'Go on until the interval of each median is within this share of it' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l warm-up -d 'Runs of each combination before, which do not count' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l idle -l idtm -d 'Rest before each run' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l timeout -d 'End runs that take longer' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l plan -d 'Which combinations: full, latin or halton:N' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l seed -d 'Begin of the random order' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -s m -l measure -d 'What is measured' -r -f -a "plain\t'Time, processor time and memory of the program as it is'
regions\t'Also its parallel regions and those that it marks, from a trace that is removed again'
traces\t'The same, and the traces stay'"
complete -c instr -n "__fish_instr_using_subcommand sweep" -l sensors -d 'Read these sensors in traced runs, for the energy of regions: rapl, auto, all, or as INSTR_SENSORS names them' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l sensors-period -d 'How often they are read [default: 10ms]' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l target -d 'Take the power model of this target, or of a description FILE.toml, where there are no meters' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l counters -l fgpe -d 'Count these events in runs, and in regions: task-clock, page-faults, context-switches, cycles, instructions … as INSTR_COUNTERS names them' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l ipmi -d 'Read the power of the machine from its management controller by ipmitool while plain runs go on: local, HOST or USER@HOST, whose password is in IPMI_PASSWORD' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l model -d 'Predict times on these numbers of threads' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -s o -l output -l outp -d 'Folder of the results [default: the program\'s name with .sweep]; one that is there goes on' -r -F
complete -c instr -n "__fish_instr_using_subcommand sweep" -l csv -d 'Write all runs into FILE, a line each; - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand sweep" -l parquet -d 'Write all runs into FILE as a table of Parquet; - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand sweep" -l pascal -d 'Write all runs into FILE in the form of PaScal Analyzer; - is standard output' -r -F
complete -c instr -n "__fish_instr_using_subcommand sweep" -l level -l ragl -d 'Show regions that are nested at most N deep; those inside of them are a part of them' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l top -d 'Show at most N rows of the table of regions [default: 40]' -r
complete -c instr -n "__fish_instr_using_subcommand sweep" -l hot-plug -l dcrs -d 'Take processors that a run has no thread for away from the whole machine while it runs'
complete -c instr -n "__fish_instr_using_subcommand sweep" -l dry-run -d 'Show what would be run'
complete -c instr -n "__fish_instr_using_subcommand sweep" -l show-output -d 'Print what the program prints'
complete -c instr -n "__fish_instr_using_subcommand sweep" -l json -d 'Print the figures as JSON (docs/sweep.md)'
complete -c instr -n "__fish_instr_using_subcommand sweep" -l executions -d 'Also show how long single executions of regions took'
complete -c instr -n "__fish_instr_using_subcommand sweep" -s h -l help -d 'Print help (see more with \'--help\')'
complete -c instr -n "__fish_instr_using_subcommand repair" -s o -l output -d 'New trace directory; it must not exist' -r -F
complete -c instr -n "__fish_instr_using_subcommand repair" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand extract" -s o -l output -d 'New trace directory; it must not exist [default: NAME.instr, by the name of the traced program]' -r -F
complete -c instr -n "__fish_instr_using_subcommand extract" -l trace -d 'Number of the trace in a log with several, from 1 [default: the last]' -r
complete -c instr -n "__fish_instr_using_subcommand extract" -s h -l help -d 'Print help'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s e -l exe -d 'Program or shared library that the addresses belong to [default: a.out]' -r -F
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s C -l demangle -d 'Show C++ and Rust names as in the source' -r -f -a "none\t'As the linker sees them'
auto\t'By what the name looks like'
gnu-v3\t'C++'
java\t'As gnu-v3'
gnat\t'Ada: as the linker sees them'
dlang\t'D: as the linker sees them'
rust\t'Rust only'"
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s j -l section -d 'Addresses are offsets into section NAME' -r
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s b -l target -d 'Ignored, for compatibility with addr2line: the file says which format it has' -r
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l trace -d 'Addresses are those of this trace\'s process; without ADDRESS, all code addresses in the trace' -r -F
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l search -d 'Look for programs, libraries and .dwo files that were moved in DIR too' -r -F
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l sysroot -d 'Look below DIR for files with absolute paths: a copy of the system where the program ran' -r -F
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l debug-file -d 'Read the debug information from FILE' -r -F
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l debug-dir -d 'Look for debug files below DIR [default: /usr/lib/debug]' -r -F
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l path-map -d 'Replace OLD by NEW at the start of the paths of .dwo files' -r
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l adjust-vma -l obj-offset -d 'The program is loaded at OFFSET: subtract it from each address' -r
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s f -l functions -d 'Show function names'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s i -l inlines -d 'Show the functions that a line was inlined into, too'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l no-inlines -d 'Show the innermost function only (the default, as in addr2line)'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s p -l pretty-print -d 'Print each place on one line'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s s -l basenames -d 'Show file names without directories'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s a -l addresses -d 'Show the address in front of its place'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s R -l recurse-limit -l recursion-limit -d 'Ignored, for compatibility with addr2line: demangling is always limited'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s r -l no-recurse-limit -l no-recursion-limit -d 'Ignored, for compatibility with addr2line: demangling is always limited'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -l json -d 'Print one JSON object on a line for each address (docs/symbolize.md)'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s h -l help -d 'Show this help'
complete -c instr -n "__fish_instr_using_subcommand symbolize" -s V -l version -d 'Show the version'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "cc" -d 'Compile and link with tracing, as instr-cc does: instr cc -O2 -fopenmp app.c -o app'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "c++" -d 'The same with the C++ compiler, c++'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "fortran" -d 'The same with gfortran'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "run" -d 'Run a program, record it, and say where its trace is'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "attach" -d 'Record who runs on which processor of a process that runs already, without touching it'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "list" -d 'List traces, those of earlier runs too'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "doctor" -d 'Check what works on this machine'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "config" -d 'Print compiler options and folders for builds without instr-cc that include <instr/instr.h>'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "merge" -d 'Convert a trace for Paraver: NAME.prv, NAME.pcf and NAME.row'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "export" -d 'Convert a trace for other viewers, such as Perfetto'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "query" -d 'Ask a trace by SQL: its tables of tasks, waits, regions, samples …, or a ready question'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "summary" -d 'Show where the time went, and what helps; as tables or JSON'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "processors" -d 'Show who ran on which processor, and who took it from whom: of one trace, or of several that ran at once'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "diff" -d 'Compare runs before and after a change: what got slower or faster, and whether that is more than noise'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "report" -d 'Write a page for the browser: what cost most, a time line, tables; one HTML file'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "live" -d 'Watch a running program: what its threads do, regions, tasks, heap'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "plot" -d 'Draw a figure for a paper: a Gantt chart, processors, the task graph, power, memory, efficiency, durations, how a sweep scales; SVG, PNG or PDF'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "timeline" -d 'Draw the time line in the terminal: what each thread, or processor, did when'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "graph" -d 'Show how parallel the tasks are, and write their graph as a picture or for other tools'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "predict" -d 'Predict the time with more threads, faster functions, without a lock or with other chunks, and rank what would help most'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "sweep" -d 'Run a program with several numbers of threads, inputs and more, and show how it scales'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "repair" -d 'Complete the trace of a killed program, so that every CTF reader can open it'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "extract" -d 'Get a trace from a board: from the log of its console, a dump of its memory or a core file'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "symbolize" -d 'Translate addresses to functions, files and lines, as addr2line does'
complete -c instr -n "__fish_instr_using_subcommand help; and not __fish_seen_subcommand_from cc c++ fortran run attach list doctor config merge export query summary processors diff report live plot timeline graph predict sweep repair extract symbolize help" -f -a "help" -d 'Print this message or the help of the given subcommand(s)'
