# Completion of hardway for bash. It asks the program itself, which knows the hosts of the folder that --dir names.

_hardway() {
    local i word glue='' prefix='' words=() answer=()
    # Bash splits words at colons and equals signs; the program wants them whole.
    for ((i = 1; i <= COMP_CWORD; i++)); do
        word=${COMP_WORDS[i]}
        if ((${#words[@]} > 0)) && [[ -n $glue || $word =~ ^[=:]+$ ]]; then
            prefix=${words[-1]}
            words[-1]+=$word
        else
            prefix=''
            words+=("$word")
        fi
        [[ $word =~ ^[=:]+$ ]] && glue=1 || glue=''
    done
    # Only what stands behind the last of them is replaced.
    [[ -n $glue ]] && prefix=${words[-1]}
    mapfile -t answer < <("${COMP_WORDS[0]}" completion bash -- "${words[@]}" 2>/dev/null)
    COMPREPLY=()
    case ${answer[0]-} in
        :files) compopt -o default 2>/dev/null ;;
        :folders) compopt -o dirnames 2>/dev/null ;;
        *) for word in "${answer[@]}"; do COMPREPLY+=("${word#"$prefix"}"); done ;;
    esac
}

complete -F _hardway hardway
