# SPDX-License-Identifier: Apache-2.0
"""A parser of the command line that helps in either language, and tells slips with what was probably meant."""

from __future__ import annotations

import argparse
import os
from collections.abc import Iterable, Iterator, Sequence
from functools import partial
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NoReturn

from advisor.cli.help_layout import HelpFormatter
from advisor.messages.text import LANGUAGES, Language
from advisor.report.output_formats import WRITERS

if TYPE_CHECKING:
    from advisor.messages.message import Message, MessageValue


_MEANT = "_meant"
"""The attribute of what was found that holds the parser of the command that was meant."""
_FORMATS = frozenset({"format", "output-format", *(writer.name for writer in WRITERS)})
"""What people ask for as an option that wants a report in a format."""


class Slip(Exception):
    """The words of a command line do not fit: what is wrong, the command that was meant, and how it is used."""

    def __init__(self, what: Message, hint: Message | None, command: str, usage: str) -> None:
        super().__init__(what, hint, command, usage)
        self.what, self.hint, self.command, self.usage = what, hint, command, usage

    def say(self, language: str) -> str:
        """All of it in one language."""
        from advisor.messages.errors import UsageError
        from advisor.messages.message import Message

        begin = Message("command_and_error", command=self.command).say(language)
        hint = self.hint or Message("help_lists_options", command=self.command)
        return f"{self.usage}{begin}{UsageError(self.what, hint).say(language)}"


class Parser(argparse.ArgumentParser):
    """A parser that helps in one language, and raises what is wrong as a message.

    Raises:
        Slip: By `parse_args`, for words that do not fit.
    """

    def __init__(self, prog: str | None = None, *, language: Language = "en", **words: Any) -> None:
        self._taken: list[argparse.Action] = []
        super().__init__(**{**words, "prog": prog, "formatter_class": HelpFormatter, "add_help": False})
        self.language: Language = language
        self._positionals.title = self.say("positional arguments", "位置参数")
        self._optionals.title = self.say("options", "选项")
        told = self.say("show this help message and exit", "显示本帮助并退出")
        self.add_argument("-h", "--help", action="help", help=told)

    def say(self, en: str, zh: str) -> str:
        """What is said in the language of this parser."""
        return zh if self.language == "zh" else en

    def add_subparsers(self, **words: Any) -> Any:
        """Commands or actions, whose parsers help in the same language."""
        return super().add_subparsers(**{**words, "parser_class": partial(type(self), language=self.language)})

    def _get_formatter(self) -> argparse.HelpFormatter:
        formatter = super()._get_formatter()
        assert isinstance(formatter, HelpFormatter)  # noqa: S101 - it is the class given above
        formatter.language = self.language
        return formatter

    def refuse(self, what: Message, hint: Message | None = None, action: argparse.Action | None = None) -> NoReturn:
        """Ends with a message, about one argument or about all."""
        if action is not None:
            what = _message("argument", name=_argument_name(action), what=what)
        raise Slip(what, hint, self.prog, self.short_usage()) from None

    def short_usage(self) -> str:
        """How the command is called, in a line: what it cannot do without, and that there are options."""
        formatter = self._get_formatter()
        needed = [one for one in self._actions if one.required or not one.option_strings]
        formatter.add_usage(None, needed, ())
        options = self.say("options", "选项")
        return formatter.format_help().replace(self.prog, f"{self.prog} [{options}]", 1)

    def error(self, message: str) -> NoReturn:
        """Ends where an argument is missing, which argparse tells by a sentence alone; what else it finds is quoted."""
        missing = [_argument_name(one) for one in self._actions if one.required and one not in self._taken]
        if missing:
            self.refuse(_message("arguments_required", names=", ".join(missing)))
        self.refuse(_message("words_do_not_fit", said=message))

    def parse_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The words as arguments; those that mean nothing are refused."""
        found, unknown = self.parse_known_args(args, namespace)
        meant: Parser = vars(found).pop(_MEANT)
        if unknown:
            meant.refuse_unknown(unknown, getattr(found, "path", None))
        return found

    def refuse_unknown(self, words: Sequence[str], path: object) -> NoReturn:
        """Ends over words that mean nothing, beside the path that was given."""
        self.refuse(_message("unknown_arguments", words=" ".join(words)), self._hint_on_unknown(words, path))

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        """The same with those that mean nothing; an argument that may be left out may stand behind an option too.

        argparse takes it to be left out as soon as one that stands before it is there.
        """
        found, unknown = super().parse_known_args(args, namespace)
        if _MEANT not in found:  # the command's own parser comes first, and what it found is handed up
            setattr(found, _MEANT, self)
        if any(word.startswith("-") for word in unknown):
            return found, unknown
        for action in (one for one in self._actions if one.nargs == argparse.ONE_OR_MORE and not one.option_strings):
            if unknown:  # more of them, behind an option
                action(self, found, [self._get_value(action, word) for word in unknown])
                unknown = []
        may_be_left_out = (one for one in self._actions if not one.option_strings and one.nargs == argparse.OPTIONAL)
        for action in may_be_left_out:
            if unknown and getattr(found, action.dest) == action.default:
                word = unknown.pop(0)
                value = self._get_value(action, word)
                self._check_value(action, value)
                setattr(found, action.dest, value)
        return found, unknown

    def _hint_on_unknown(self, unknown: Sequence[str], path: object) -> Message | None:
        """The option that is nearest; of paths beside the one path, as a shell writes for `prof/*`, their folder.

        A format is no option: it is the suffix of a report. A finding or a rule is told behind an option.
        """
        option = next((word.partition("=")[0] for word in unknown if word.startswith("-")), "")
        if not option and path is not None and all(map(os.path.exists, unknown)):
            folders = {os.path.dirname(word.rstrip("/")) or "." for word in (*unknown, str(path))}
            return _message("one_folder_for_all", folder=folders.pop()) if len(folders) == 1 else None
        known = tuple(_options_below(self))
        if option.lstrip("-") in _FORMATS and "-o" in known:
            return _message("format_by_suffix")
        if not option and (behind := self._option_with(unknown[0])):
            return _message("value_by_option", option=behind, name=unknown[0])
        if not option and "--finding" in known and not os.path.exists(unknown[0]):
            return _message("finding_by_option", name=unknown[0])
        return _nearest_hint(option, known)

    def _option_with(self, word: str) -> str | None:
        """The option that this word is a choice of."""
        with_choices = (one for one in self._actions if one.option_strings and one.choices is not None)
        return next((one.option_strings[-1] for one in with_choices if word in (one.choices or ())), None)

    def _check_value(self, action: argparse.Action, value: Any) -> None:
        if action.choices is None or value in action.choices:
            return
        known = tuple(map(str, action.choices))
        hint = _nearest_hint(str(value), known)
        if action.nargs == argparse.PARSER and os.path.exists(str(value)):  # a path without a command
            from advisor.messages.shell_words import shell_words

            hint = _message("diagnose_it", path=shell_words(str(value)))
        what = _message("invalid_choice", given=repr(value), choices=", ".join(map(repr, known)))
        self.refuse(what, hint, action)

    def _get_value(self, action: argparse.Action, arg_string: str) -> Any:
        try:
            return super()._get_value(action, arg_string)
        except argparse.ArgumentError as error:
            from advisor.messages.errors import Unclear

            if isinstance(error.__context__, Unclear):
                self.refuse(error.__context__.what, error.__context__.hint, action)
            raise

    def _match_argument(self, action: argparse.Action, arg_strings_pattern: str) -> int:
        try:
            return int(super()._match_argument(action, arg_strings_pattern))
        except argparse.ArgumentError:
            if action.nargs is None:
                self.refuse(_message("expected_one_argument"), None, action)
            raise

    def _get_option_tuples(self, option_string: str) -> list[Any]:
        """The options that begin so; several are told, for none of them is meant."""
        found = super()._get_option_tuples(option_string)
        if len(found) > 1:
            names = ", ".join(str(one[1]) for one in found)
            self.refuse(_message("option_is_ambiguous", option=option_string, names=names))
        return found

    def _get_values(self, action: argparse.Action, arg_strings: list[str]) -> Any:
        self._taken.append(action)
        return super()._get_values(action, arg_strings)

    def _parse_known_args(self, *words: Any) -> Any:
        """The same, where an option that takes no value was given one told as that."""
        self._taken = []
        try:
            return super()._parse_known_args(*words)
        except argparse.ArgumentError as error:
            action = next((one for one in self._actions if _argument_name(one) == error.argument_name), None)
            if action is None:
                self.error(error.message)
            flag = action.nargs == 0
            what = _message("takes_no_value") if flag else _message("words_do_not_fit", said=error.message)
            self.refuse(what, None, action)


def _argument_name(action: argparse.Action) -> str:
    """What argparse calls an argument in its messages."""
    return argparse.ArgumentError(action, "").argument_name or ""


def _message(code: str, /, **values: MessageValue) -> Message:
    """A message; what it takes to say one is read only where the words do not fit."""
    from advisor.messages.message import Message

    return Message(code, **values)


def _nearest_hint(word: str, known: Iterable[str]) -> Message | None:
    """The question whether the nearest of these is meant."""
    from difflib import get_close_matches

    from advisor.messages.message import did_you_mean

    return did_you_mean(get_close_matches(word, tuple(known), 1, 0.55)) if word else None


def _options_below(one: argparse.ArgumentParser) -> Iterator[str]:
    """Every option of a parser and of those below it."""
    for action in one._actions:  # argparse has no public way to walk them
        yield from action.option_strings
        if isinstance(action, argparse._SubParsersAction):
            for below in action.choices.values():
                yield from _options_below(below)


def language_asked(words: Sequence[str]) -> str | None:
    """The language that is asked for among words that could not be understood as a whole; one that is spoken."""
    pairs = [*(word.partition("=")[::2] for word in words), *pairwise(words)]
    return next((value for option, value in pairs if option == "--lang" and value in LANGUAGES), None)
