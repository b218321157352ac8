#compdef hardway
# Completion of hardway for zsh. It asks the program itself, which knows the hosts of the folder that --dir names.

_hardway() {
    local -a answer
    answer=("${(@f)$("${words[1]}" completion zsh -- "${(@)words[2,CURRENT]}" 2>/dev/null)}")
    case ${answer[1]} in
        :files) _files ;;
        :folders) _files -/ ;;
        '') return 1 ;;
        *) _describe hardway answer ;;
    esac
}

if [[ ${funcstack[1]} == _hardway ]]; then
    _hardway "$@"
else
    compdef _hardway hardway
fi
