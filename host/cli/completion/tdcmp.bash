# bash completion of tdcmp

_tdcmp_list() # completes the last of a list with commas
{
    local done="" last="$cur"
    if [[ $cur == *,* ]]; then
        done="${cur%,*},"
        last="${cur##*,}"
    fi
    COMPREPLY=($(compgen -P "$done" -W "xlsx csv json jsonl html vis" -- "$last"))
}

_tdcmp()
{
    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD - 1]}"
    local friendly="--tolerance --truth --noise --output --format --json --only --atol --rtol --cos --step --token --fuzzy --data-mapping --layer-mapping
        --api-mapping --cell-mapping --rules --no-highlight --stack --no-stack --no-advice --allow-unmatched --align --series --threads
        --io --io-timeout --device --no-fallback --shard --restart --top --verbose --quiet --color --version --help"
    local show="--test --ref --verbose --help"
    local match="--fuzzy --data-mapping --layer-mapping --api-mapping --cell-mapping --rules --unmatched
        --suggest --save --step --align --help"
    local msprobe="--input_path --output_path --stack_mode --compare_only --fuzzy_match --highlight
        --cell_mapping --api_mapping --data_mapping --layer_mapping --diff_analyze --nan-is-diff --rules --format
        --threads --device --no-fallback --help"
    local compare26="--mode --target_path --golden_path --output_path --xlsx --fuzzy_match --cell_mapping --api_mapping
        --data_mapping --layer_mapping --diff_analyze --is_print_compare_log --consistent_check --backend --config --rules
        --format --threads --device --no-fallback --help"
    local make="--tensors --elements --dtype --bench-dtype --task --npy --share --exact --noise --distinct --ranks --steps --indent
        --no-stack --seed --threads --help"
    local network="--network --dtype --fault --fault-side --task --level --npy --layers --width --heads --batch --tokens
        --vocabulary --exact --seed --help"
    local measure="--case --dtype --size --tensors --rows --threads --repeat --rules --io --dir --json
        --help"
    local plain="--dtype --size --total --state --step --fuzzy --data-mapping --layer-mapping --api-mapping
        --cell-mapping --threads --repeat --rules --io --dir --json --help"
    local kernels="--dtype --variant --rule --equal --extremes --size --threads --repeat --json --help"
    local reading="--size --files --threads --repeat --dir --json --help"
    local operators="--size --elements --calls --activations --threads --repeat --dir --json --help"
    local simulated="--ranks --tensors --size --rate --storage --per-node --open --json --slow --help"
    local growth="--records --repeat --rules --dir --help"
    local searches="--ranks --calls --size --threads --repeat --dir --json --help"
    local precheck="--io-timeout --output --format --max-abs-err --cos --bench-round --rules --standard --mode --resume --save-error-data
        --no-json --explain --shard --restart --list-apis --threads --top --verbose --quiet --color --version --help"
    local diff="--align --series --tolerance --truth --noise --output --format --json --only --atol --rtol --cos --key --top --allow-unmatched --threads --io --io-timeout --device --no-fallback
        --verbose --quiet --color --help"
    local config_check="--output --threads --help"
    local llm="--my-path --golden-path --output --rank --log-level --help"
    local align="--list --show --help"
    local convert="--output --to --quiet --help"
    local ranks="--json --top --threads --help"
    local inspect="--json --top --threads --quiet --help"
    local run_ut="--api_info_file --out_path --result_csv_path -save_error_data --device --jit_compile
        --filter_api --config_path --num_splits --profile --standard --mode --bench-round --max-abs-err
        --cos --threads --help"
    COMPREPLY=()
    if ((COMP_CWORD == 1)); then
        COMPREPLY=($(compgen -W "compare diff show precheck inspect ranks trace overflow kernels merge gradients merge_result overflow_check graph_visualize config_check acc_check multi_acc_check api_precision_compare match align convert llm devices bench help -f --framework --version --help" -- "$cur"))
        return
    fi
    if [[ ${COMP_WORDS[1]} == -f || ${COMP_WORDS[1]} == --framework ]]; then
        case $COMP_CWORD in
        2) COMPREPLY=($(compgen -W "pytorch mindspore" -- "$cur")) && return ;;
        3) COMPREPLY=($(compgen -W "compare run_ut multi_run_ut api_precision_compare nan_analyze merge_result graph" -- "$cur")) && return ;;
        esac
    fi
    case $prev in
    --io) COMPREPLY=($(compgen -W "auto mmap pread direct" -- "$cur")) && return ;;
    --rules) COMPREPLY=($(compgen -W "sound msprobe msprobe26" -- "$cur")) && return ;;
    --color) COMPREPLY=($(compgen -W "auto always never" -- "$cur")) && return ;;
    -F | --format) _tdcmp_list && return ;;
    --only) COMPREPLY=($(compgen -W "different different,unmatched" -- "$cur")) && return ;;
    --profile) COMPREPLY=($(compgen -W "compat extended" -- "$cur")) && return ;;
    --standard) COMPREPLY=($(compgen -W "cosine pytorch" -- "$cur")) && return ;;
    --mode) COMPREPLY=($(compgen -W "auto recorded execute" -- "$cur")) && return ;;
    --bench-round) COMPREPLY=($(compgen -W "auto none tested" -- "$cur")) && return ;;
    --max-abs-err | --cos | --atol | --rtol | --explain) return ;;
    --device) COMPREPLY=($(compgen -W "auto cpu gpu ascend cuda opencl" -- "$cur")) && return ;;
    --threads | --step | --token | --top) return ;;
    esac
    case ${COMP_WORDS[1]} in
    show) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$show" -- "$cur")) ;;
    compare)
        [[ $prev == -t ]] && return
        if [[ " ${COMP_WORDS[*]} " == *" -tp "* || " ${COMP_WORDS[*]} " == *" --target_path "* ]]; then
            [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$compare26" -- "$cur"))
            return
        fi
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$friendly" -- "$cur"))
        ;;
    precheck)
        [[ $prev == -t ]] && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$precheck" -- "$cur"))
        ;;
    diff)
        [[ $prev == -t || $prev == --key ]] && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$diff" -- "$cur"))
        ;;
    config_check)
        [[ $prev == --threads ]] && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$config_check" -- "$cur"))
        ;;
    llm)
        [[ $prev == llm ]] && COMPREPLY=(compare) && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$llm" -- "$cur"))
        ;;
    align)
        [[ $prev == --show ]] && COMPREPLY=($(compgen -W "llama moe transformer verl" -- "$cur")) && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$align" -- "$cur"))
        ;;
    convert)
        [[ $prev == --to ]] && COMPREPLY=(npy) && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$convert" -- "$cur"))
        ;;
    ranks)
        [[ $prev == -t || $prev == --top ]] && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$ranks" -- "$cur"))
        ;;
    inspect)
        [[ $prev == -t || $prev == --top ]] && return
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$inspect" -- "$cur"))
        ;;
    trace)
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "--from --top --json --format --output --truth --step --shard --restart --threads --help" -- "$cur"))
        ;;
    merge)
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "--config --output --help" -- "$cur"))
        ;;
    overflow | gradients | kernels)
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "--output --help" -- "$cur"))
        ;;
    match)
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$match" -- "$cur"))
        ;;
    -f | --framework)
        if [[ ${COMP_WORDS[3]} == *run_ut ]]; then
            [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$run_ut" -- "$cur"))
            return
        fi
        [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$msprobe" -- "$cur"))
        ;;
    bench)
        case $COMP_CWORD:${COMP_WORDS[2]} in
        2:*) COMPREPLY=($(compgen -W "matrix compare match cluster trace align kernels io device make network reference --help" -- "$cur")) ;;
        *:match) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$growth" -- "$cur")) ;;
        *:cluster) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$simulated" -- "$cur")) ;;
        *:align) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "--dtype --size --threads --repeat --io --dir --json --help" -- "$cur")) ;;
        *:trace) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$searches" -- "$cur")) ;;
        *:make) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$make" -- "$cur")) ;;
        *:network) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$network" -- "$cur")) ;;
        *:compare) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$measure" -- "$cur")) ;;
        *:kernels) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$kernels" -- "$cur")) ;;
        *:reference) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$operators" -- "$cur")) ;;
        *:io) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$reading" -- "$cur")) ;;
        *) [[ $cur == -* ]] && COMPREPLY=($(compgen -W "$plain" -- "$cur")) ;;
        esac
        ;;
    esac
}

# what is not an option is a file or a folder
complete -o default -F _tdcmp tdcmp
