# Completion of hardway for fish. It asks the program itself, which knows the hosts of the folder that --dir names.

function __hardway_complete
    set -l words (commandline -opc)
    set -l program $words[1]
    set -l current (commandline -ct | string collect --allow-empty)
    set -l answer ($program completion fish -- $words[2..] "$current" 2>/dev/null)
    switch "$answer[1]"
        case :files
            __fish_complete_path "$current"
        case :folders
            __fish_complete_directories "$current"
        case '*'
            printf '%s\n' $answer
    end
end

complete -c hardway -f -a '(__hardway_complete)'
