# SPDX-License-Identifier: Apache-2.0
"""What can be wrong with a rule file: as YAML, in its shape, in what it means, in its style and in its cases."""

from __future__ import annotations

from collections.abc import Mapping

from advisor.messages.text import Text

TEXTS: Mapping[str, Text] = {
    # the file
    "cannot_be_read": Text("cannot be read: {why}", "无法读取：{why}"),
    "no_rule_directory": Text("no such directory of rules", "规则目录不存在"),
    "no_rules_in_folder": Text("there is no rule in this folder", "目录中没有规则"),
    "rules_are_yaml": Text("a rule is a file CATEGORY/NAME.yaml below it", "规则文件应为其下的 CATEGORY/NAME.yaml"),
    "too_many_entries": Text(
        "more than {limit} files and folders: give the folder that holds the rules",
        "文件与目录超过 {limit} 个：请给出规则所在目录",
    ),
    "no_regular_file": Text("is no regular file", "不是普通文件"),
    "link_leads_out": Text(
        "is a link that leads out of {folder}, and is not followed", "是指向 {folder} 之外的链接，不予跟随"
    ),
    "put_file_itself": Text("put the file itself there", "请放入文件本身"),
    "file_too_large": Text("file is larger than {limit} KiB", "文件超过 {limit} KiB"),
    "line_too_long": Text("line is longer than {limit} characters", "单行超过 {limit} 个字符"),
    "too_many_brackets": Text("more than {limit} brackets", "括号超过 {limit} 个"),
    "nested_too_deep": Text("nested too deep", "嵌套过深"),
    "not_utf8": Text("not UTF-8 text", "不是 UTF-8 文本"),
    "save_as_utf8": Text("save the file as UTF-8", "请将文件保存为 UTF-8"),
    "not_yaml": Text('not YAML: "{said}"', "不是合法的 YAML：“{said}”"),
    "not_toml": Text('not TOML: "{said}"', "不是合法的 TOML：“{said}”"),
    "never_closed": Text("what {sign} begins here is never closed", "此处的 {sign} 没有闭合"),
    "check_yaml_here": Text(
        "look at the indentation, quotes and brackets of this line and the one above",
        "请检查该行与上一行的缩进、引号和括号",
    ),
    "check_toml_here": Text(
        'a text stands in quotes, a key is given once, and what is opened is closed: "…", […], {…}',
        "文本需加引号，同一个键只写一次，引号与括号须成对",
    ),
    "no_aliases": Text("anchors with aliases are not read here", "此处不支持 YAML 锚点与别名"),
    "no_merge_keys": Text("merge keys are not read here", "此处不支持 YAML 合并键"),
    "no_tags": Text("tags are not read here", "此处不支持 YAML 标签"),
    "key_is_word": Text("a key is a plain word", "键必须是普通单词"),
    "write_it_out": Text("write it out", "请直接写出内容"),
    "first_on_line": Text("first on line {line}", "首次出现在第 {line} 行"),
    "quote_the_sign": Text(
        'a value that begins with one of @ ` % * & stands in quotes: "@team"',
        '以 @ ` % * & 开头的值需加引号："@team"',
    ),
    "quote_the_whole": Text(
        "a text that begins with {sign} stands in quotes as a whole: {quoted}",
        "以 {sign} 开头的文本需整体加引号：{quoted}",
    ),
    "quote_the_hole": Text(
        "between braces a text with {hole} in it stands in quotes as a whole",
        "花括号内含 {hole} 的文本需整体加引号",
    ),
    "share_is_written": Text("a share is written as {number}", "占比请写成 {number}"),
    "times_are_us": Text("times are counted in us: 1 {unit} is {number}", "时间以 us 计：1 {unit} 为 {number}"),
    "not_and_tags": Text(
        "a condition is negated with `not`; a text that begins with ! stands in quotes",
        "条件取反请用 `not`；以 ! 开头的文本需加引号",
    ),
    "indent_with_blanks": Text("indent with blanks, not tabs", "请用空格缩进，不要用制表符（Tab）"),
    "one_document": Text(
        "a file holds one document: no `---` further down", "一个文件只能有一个文档：请删去中间的 `---`"
    ),
    "quote_colon_or_part": Text(
        'between brackets a text with ": " in it stands in quotes, and a comma parts what is listed',
        "括号内含“: ”的文本需加引号，各项之间以半角逗号分隔",
    ),
    "quote_the_colon": Text('a text with ": " in it stands in quotes', "含有“: ”的文本需加引号"),
    # its shape
    "rule_is_mapping": Text("a rule file is a mapping that begins with `id:`", "规则文件应为映射，并以 `id:` 开头"),
    "rule_has_tests": Text("a rule has a list of `tests`", "规则应有 `tests` 列表"),
    "one_that_fires": Text("at least one in which it fires", "至少有一个触发的用例"),
    # a pattern of chains
    "pattern_is_mapping": Text(
        "a pattern file is a mapping that begins with `name:`", "模式文件应为映射，并以 `name:` 开头"
    ),
    "pattern_named_as_file": Text(
        "the name is that of the file, in small letters with dashes: `{name}`",
        "name 应与文件名一致，用小写字母与连字符：`{name}`",
    ),
    "one_anchor": Text("one member, and only one, is marked with `!`", "须有且仅有一个成员标注 `!`"),
    "mark_the_rarest": Text("mark the rarest: the chain is looked for by it", "请标注最少见的成员：按它查找算子串"),
    "chain_too_long": Text(
        "more than {members} members, or more than {optional} that may be missing",
        "成员超过 {members} 个，或可缺省的超过 {optional} 个",
    ),
    "chain_too_short": Text("fewer than two members that have to be there", "必须出现的成员少于两个"),
    "wants_other_order": Text(
        "`wants` has the members, without marks, in another order: `{members}`",
        "`wants` 须为这些成员（不带标记）的另一种顺序：`{members}`",
    ),
    "no_member": Text("`{name}` is no member of the chain", "`{name}` 不是该算子串的成员"),
    "no_spelling": Text("no spellings are given for `{name}`", "没有给出 `{name}` 的拼写"),
    "no_case_finds": Text("no case in which a chain is found", "缺少能找到算子串的用例"),
    "no_case_finds_none": Text("no case in which none is found", "缺少找不到算子串的用例"),
    "shapes_in_brackets": Text(
        "`{word}` is neither a type nor a type with shapes, such as `Add(64,128;128)`",
        "`{word}` 既不是算子类型，也不是带 shape 的类型（如 `Add(64,128;128)`）",
    ),
    "chains_expected": Text(
        "{name}: expected {wanted} {wanted|chain|chains}, got {got}", "{name}：应找到 {wanted} 串，实为 {got} 串"
    ),
    "groups_by_pattern": Text(
        "steps of patterns need `pattern` in `for_each`", "使用模式的措施时，`for_each` 中须有 `pattern`"
    ),
    # its meaning
    "key_is_measured": Text(
        "`{name}` is measured; group by names, ranks, steps or flags",
        "`{name}` 是测量值；应按名称、rank、step 或标志分组",
    ),
    "is_no_name": Text("`{name}` is not a name", "`{name}` 不能作名称"),
    "small_letters": Text("small letters, digits and _", "只用小写字母、数字与 _"),
    "is_reserved": Text("`{name}` is a word of the language", "`{name}` 是规则语言的保留字"),
    "choose_another_name": Text("choose another name", "请换一个名称"),
    "is_taken": Text("`{name}` is already a column, param or run name", "`{name}` 已是列、参数或运行信息的名称"),
    "last_is_otherwise": Text(
        "the last level of `{name}`, and only the last, is `otherwise`",
        "`{name}` 的最后一级（且仅最后一级）为 `otherwise`",
    ),
    "has_value_per_row": Text("`{name}` has one value per row", "`{name}` 每行一个值"),
    "name_an_aggregate": Text("name an aggregate with `let`", "请在 `let` 中为聚合命名"),
    "hole_is_open": Text("the brace before `{name}` is not closed", "`{name}` 前的花括号没有闭合"),
    "close_the_hole": Text("put the closing brace behind the name", "请在名称后补上右花括号"),
    "hole_has_more": Text("`{hole}` holds more than a name", "`{hole}` 中除名称外还有其他内容"),
    "label_has_hole": Text(
        "nothing is filled into what evidence is called: `{hole}`", "证据的名称中不填入取值：`{hole}`"
    ),
    "name_alone": Text(
        "write `{hole}`: there are no formats, its unit says how it is shown",
        "请写成 `{hole}`：不支持格式说明，显示方式由单位决定",
    ),
    "hole_is_unknown": Text(
        "`{hole}` is neither evidence nor a key of `for_each`", "`{hole}` 既不是 evidence，也不是 `for_each` 的键"
    ),
    "show_as_evidence": Text("show `{name}` under `evidence`", "请在 `evidence` 中列出 `{name}`"),
    "value_per_group_needed": Text(
        "one value per group is needed, and this has one per row", "此处每组需要一个值，而它每行一个值"
    ),
    "use_an_aggregate": Text("use an aggregate such as `max(…)`", "请用 `max(…)` 之类的聚合函数"),
    "rows_are_untimed": Text("a row of `{name}` does not say when it happened", "`{name}` 的行不含发生时刻"),
    "timed_tables": Text("those that do: {names}", "含发生时刻的有：{names}"),
    "share_no_key": Text("`{one}` and `{other}` share no key", "`{one}` 与 `{other}` 没有共同的键"),
    "name_a_pair": Text("name a pair of columns: `by: {rank: last_rank}`", "请给出一对列：`by: {rank: last_rank}`"),
    "has_no_key": Text("`{table}` has no key `{name}`", "`{table}` 没有键 `{name}`"),
    "not_of_one_kind": Text("`{one}` and `{other}` are not of one kind", "`{one}` 与 `{other}` 类型不同"),
    # its style
    "no_rule": Text("no rule `{name}`", "没有规则 `{name}`"),
    "rules_list_shows": Text("advisor rules list shows them all", "可用 advisor rules list 查看全部规则"),
    "no_rule_id": Text("`{name}` is not the id of a rule", "`{name}` 不是规则 id"),
    "rule_id_is_written": Text("category/name, in small letters with dashes", "格式为 category/name，小写字母加连字符"),
    "explains_itself": Text("a rule does not explain itself", "规则不能解释自身"),
    "explains_in_circle": Text("`{name}` explains itself by way of others", "`{name}` 经由其他规则解释了自身"),
    "host_time_unsaid": Text(
        "`{name}` says that recording slowed the host, and `saving` does not say whether it is host time",
        "`{name}` 指出采集拖慢了 host，而 `saving` 没有说明是否为 host 时间",
    ),
    "say_host_time": Text(
        "write `host_time: true` where it is time that the host takes or the device waits for the host, else `false`",
        "若为 host 耗时或设备等待 host 的时间，请写 `host_time: true`，否则写 `false`",
    ),
    "inflates_elsewhere": Text(
        "only rules on the capture, `capture/…`, say `inflates`", "只有采集质量规则（`capture/…`）可以写 `inflates`"
    ),
    "id_is_path": Text("the id is the path of the file: `{path}`", "id 应与文件路径一致：`{path}`"),
    "path_is_id": Text("the path of the file is its id: `{path}`", "文件路径应与 id 一致：`{path}`"),
    "folder_is_category": Text("the folder is the category `{name}` alone", "该目录只是类别 `{name}`"),
    "give_folder_above": Text("give the folder above: {folder}", "请给出其上一级目录：{folder}"),
    "id_is_shipped": Text("there is a shipped rule `{name}`", "已有同名的内置规则 `{name}`"),
    "change_in_settings": Text(
        "choose another id; thresholds of a shipped rule are changed in advisor.yaml",
        "请换一个 id；内置规则的阈值可在 advisor.yaml 中修改",
    ),
    "slips_in_rules": Text(
        "mistakes in rules of your own: {count}; they are used as they are. `advisor rules lint {folders}` shows them",
        "自定义规则中有 {count} 处问题，仍按原样使用。可用 `advisor rules lint {folders}` 查看",
    ),
    "defined_twice": Text("`{name}` is defined twice", "`{name}` 定义了两次"),
    "first_in": Text("first in {file}", "首次定义于 {file}"),
    "too_few_cases": Text("a rule has at least {count} cases", "规则至少要有 {count} 个用例"),
    "no_case_fires": Text("no case in which the rule fires", "缺少规则触发的用例"),
    "no_case_quiet": Text("no case in which the rule is quiet", "缺少规则不触发的用例"),
    "case_named_twice": Text("two cases have this name", "两个用例同名"),
    "comment_is_lost": Text(
        "what follows `#` on this line is a comment of the file and not part of the remedy",
        "该行 `#` 之后的内容是文件注释，不会成为措施的一部分",
    ),
    "put_in_block": Text("put it on a line of its own below `{key}: |-`", "请写成 `{key}: |-`，内容另起一行"),
    "param_not_used": Text("param `{name}` is not used", "参数 `{name}` 未被使用"),
    "value_not_used": Text("value `{name}` is not used", "中间量 `{name}` 未被使用"),
    "share_beyond_whole": Text("`{name}`: {number} is more than the whole", "`{name}`：{number} 超过整体"),
    "percent_or_times": Text(
        "{percent} % is written as {number}; what can be more than the whole has `unit: times`",
        "{percent} % 请写成 {number}；可超过整体的比值请用 `unit: times`",
    ),
    "beyond_whole_is_times": Text(
        "what can be more than the whole has `unit: times`", "可超过整体的比值请用 `unit: times`"
    ),
    "number_is_threshold": Text("the number {number} in `when` is a threshold", "`when` 中的数 {number} 是阈值"),
    "name_the_threshold": Text("give it a name and a basis under `params`", "请在 `params` 中命名并写明依据"),
    "tool_of_some_runs": Text(
        "the step names `{tool}`, which not every run has", "该措施提到 `{tool}`，并非所有运行都适用"
    ),
    "say_whom_it_concerns": Text(
        "say whom it concerns: `when:` asks for `{name}`", "请说明适用对象：在 `when:` 中判断 `{name}`"
    ),
    "unit_not_shown": Text(
        "`{name}` is in {unit}, which a report cannot show", "`{name}` 的单位是 {unit}，报告无法显示"
    ),
    "threshold_in_other_unit": Text(
        "`{name}` is in `{unit}`, what is held against it is shown in `{shown}`",
        "`{name}` 的单位为 `{unit}`，而与之比较的数值以 `{shown}` 显示",
    ),
    "one_unit": Text("show both in one unit, with `unit:` or `as:`", "请用 `unit:` 或 `as:` 使两者单位一致"),
    "say_how": Text("say how with `as:`", "请用 `as:` 指明显示方式"),
    "holds_no_chinese": Text("`{name}` holds no Chinese", "`{name}` 中没有中文"),
    "holds_chinese": Text("`{name}` holds Chinese", "`{name}` 中有中文"),
    "html_is_shown": Text("raw HTML is shown as it stands: `{given}`", "原始 HTML 会原样显示：`{given}`"),
    "picture_not_shown": Text("pictures are not shown: `{given}`", "不支持图片：`{given}`"),
    "no_link_made": Text("no link is made to `{given}`", "不会生成指向 `{given}` 的链接"),
    "write_markdown": Text(
        "write Markdown: a placeholder as `code`, links to https:// or http:// and without holes",
        "请使用 Markdown：占位符写成 `code`，链接以 https:// 或 http:// 开头且不含花括号变量",
    ),
    # its cases
    "test_it_next": Text("next: advisor rules test {folder}", "下一步：advisor rules test {folder}"),
    "case_passed": Text("ok", "通过"),
    "case_failed": Text("FAILED", "失败"),
    "cases_counted": Text(
        "rules and patterns: {passed} passed, {failed} failed", "规则与模式：{passed} 项通过，{failed} 项失败"
    ),
    "outcome_fired": Text("fired", "触发"),
    "outcome_quiet": Text("quiet", "未触发（`quiet`）"),
    "outcome_not_applicable": Text("not applicable", "不适用（`not applicable`）"),
    "outcome_skipped": Text("skipped", "跳过（`skipped`）"),
    "outcome_failed": Text("failed", "执行出错"),
    "too_many_rows": Text("{table}: more than {limit} rows", "{table}：超过 {limit} 行"),
    "number_over_64_bits": Text("{table}: a whole number is larger than 64 bits", "{table}：整数超过 64 位"),
    "cells_not_headings": Text(
        "{table}: {cells} {cells|cell|cells} under {headings} {headings|heading|headings}: {row}",
        "{table}：{headings} 个表头下有 {cells} 个单元格：{row}",
    ),
    "dash_is_missing": Text("`-` stands for a value that is missing", "缺失的值写作 `-`"),
    "table_has": Text("it has {names}", "它有 {names}"),
    "cell_is_flag": Text(
        "{column} is true, false or -, not `{given}`", "{column} 应为 true、false 或 -，不能是 `{given}`"
    ),
    "cell_is_number": Text("{column} is a number, not `{given}`", "{column} 应为数字，不能是 `{given}`"),
    "quotes_do_not_match": Text(
        "a quote is not closed, or nothing follows a backslash: {line}", "引号没有闭合，或反斜杠之后没有字符：{line}"
    ),
    "not_name_value": Text("run: `{word}` is not name=value", "run：`{word}` 不是 名称=值"),
    "unknown_run_name": Text("run: unknown name `{name}`", "run：未知的名称 `{name}`"),
    "run_word_is_one_of": Text(
        "run: {name} is {allowed}, not `{given}`", "run：{name} 应为 {allowed}，不能是 `{given}`"
    ),
    "run_word_is_number": Text("run: {name} is a number, not `{given}`", "run：{name} 应为数字，不能是 `{given}`"),
    "expected_outcome": Text("expected {wanted}, got {got}", "应为{wanted}，实为{got}"),
    "expected_findings": Text("expected findings, got {got}", "应有发现，实为{got}"),
    "got_nearest": Text("{got}: {missed}", "{got}：{missed}"),
    "missed_by": Text("`{condition}` does not hold of {values}", "以下取值不满足 `{condition}`：{values}"),
    "expected_count": Text(
        "expected {wanted} {wanted|finding|findings}, got {got}: {values}",
        "应有 {wanted} 个发现，实有 {got} 个：{values}",
    ),
    "without_facts": Text("without facts: expected skipped, got {got}", "没有数据时应为跳过（`skipped`），实为{got}"),
    "on_empty_tables": Text("on empty tables: got {got}", "数据表为空时为{got}"),
    "got_findings": Text("{count} {count|finding|findings}: {values}", "{count} 个发现：{values}"),
    "got_outcome": Text("{outcome} ({reason}){needs}", "{outcome}（{reason}）{needs}"),
    "finding_lacks": Text("finding {number}: nothing is called `{name}`", "第 {number} 个发现：没有 `{name}`"),
    "finding_differs": Text(
        "finding {number}: {name}: expected {wanted}, got {got}",
        "第 {number} 个发现：{name} 应为 {wanted}，实为 {got}",
    ),
    "run_word_out_of_range": Text("run: {name} cannot be {given}", "run：{name} 不能是 {given}"),
}
