/** Owns the words for what the YAML parser refuses; its own would quote the text, which may be a secret. */

import type { ErrorCode } from 'yaml'

/** The parser's, and ours for what it only stumbles over later. */
type FaultCode = ErrorCode | 'BAD_MERGE' | 'FOREIGN_COMMENT' | 'OPEN_COMMENT'

const sentences: Readonly<Record<FaultCode, string>> = {
  ALIAS_PROPS: 'An alias takes no anchor and no tag',
  BAD_ALIAS: 'This alias is not written as one',
  BAD_COLLECTION_TYPE: 'This tag does not fit what it stands on',
  BAD_DIRECTIVE: 'This line begins with %, which only YAML directives do',
  BAD_DQ_ESCAPE: 'This text in double quotes holds a backslash that escapes nothing known',
  BAD_INDENT: 'The indentation does not fit, or a bracket before it was not closed',
  BAD_MERGE: 'What `<<` merges must be a map, an alias of one, or a list of them',
  BAD_PROP_ORDER: 'Anchors and tags stand before what they mark',
  BAD_SCALAR_START: 'Text without quotes cannot begin with this character',
  BLOCK_AS_IMPLICIT_KEY: 'A second `key:` begins where text was expected',
  BLOCK_IN_FLOW: 'Lines of `key: value` or `- item` cannot stand inside brackets',
  DUPLICATE_KEY: 'This key stands twice in one map',
  FOREIGN_COMMENT: 'This begins as a comment of JSON5 does, and would be read as a text',
  IMPOSSIBLE: 'This text cannot be read as YAML',
  KEY_OVER_1024_CHARS: 'A key is longer than 1024 characters',
  MISSING_CHAR: 'Something is missing here: a closing quote or bracket, a comma, or the space after a colon',
  MULTILINE_IMPLICIT_KEY: 'A key cannot go over several lines',
  MULTIPLE_ANCHORS: 'Only one anchor can stand here',
  MULTIPLE_DOCS: 'The file holds a second document after `---`',
  MULTIPLE_TAGS: 'Only one tag can stand here',
  NON_STRING_KEY: 'A map or list stands where a key was expected',
  OPEN_COMMENT: 'This comment has no end',
  RESOURCE_EXHAUSTION: 'The file is nested too deeply',
  TAB_AS_INDENT: 'A tab indents this line',
  TAG_RESOLVE_FAILED: 'This tag is not known',
  UNEXPECTED_TOKEN: 'This does not belong here',
}

const hints: Partial<Record<FaultCode, string>> = {
  BAD_DQ_ESCAPE: 'Double the backslash, or use single quotes.',
  BAD_INDENT: 'Keys of one map begin in one column; look for an open bracket or quote above.',
  BAD_SCALAR_START: 'Put the text in quotes.',
  BLOCK_AS_IMPLICIT_KEY: 'Text that holds `: ` needs quotes, or a `|` and the text on the next lines.',
  DUPLICATE_KEY: 'Keep one of the two, and move under it what only the other holds.',
  MISSING_CHAR: 'Close what this line or one above it opened.',
  OPEN_COMMENT: 'Write `*/` after it; a text that begins with `/*` needs quotes.',
  MULTIPLE_DOCS: 'Write one document per file.',
  TAB_AS_INDENT: 'Indent with spaces.',
  TAG_RESOLVE_FAILED: 'Remove the tag; text that begins with `!` needs quotes.',
  UNEXPECTED_TOKEN: 'Text that begins with a quote and goes on after it needs quotes around the whole.',
}

/** For a comment of JSON5 where none can stand, so that it may even be read as part of a key. */
export const foreignComment =
  'Comments begin with `#` here, as `//` and `/*` do between brackets only. A text that begins so needs quotes.'

/** Something that the parser refuses, and where. */
export interface Fault {
  readonly code: FaultCode
  readonly offset: number
}

interface SyntaxFault {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** A template without quotes that begins what stands behind a key or a dash, in a block or between braces. */
const beginsBare = /^\s*(?:-\s+)*(?:["']?[\w.$-]+["']?\s*:\s+)?\{[{%]/
const bareInBraces = /[{,]\s*["']?[\w.$-]+["']?\s*:\s+\{[{%]/

/** As JSON5 writes an apostrophe in a text. */
const isEscapedQuote = /'[^'"]*\\'/

/**
 * Of a text's faults: `line` is the one with the fault, `offset` its place in the text. What is asked of the whole text is
 * asked once.
 */
export function createExplainer(
  text: string,
): (code: FaultCode, line: string, offset: number) => SyntaxFault {
  const isConflict = /^<{7} /m.test(text)
  const isForeign = /^\s*\/[/*]/m.test(text)
  return (code, line, offset) => {
    // A newer parser may know codes that this table does not.
    const message = sentences[code] ?? sentences.IMPOSSIBLE
    if (isConflict || /^(<{7}|={7}|>{7})( |$)/.test(line)) {
      return { code: 'MERGE_CONFLICT', message: 'The file holds a merge conflict', hint: 'Resolve it first.' }
    }
    const isAtComment = /^\/[/*]/.test(text.slice(offset, offset + 2))
    if ((isForeign || isAtComment) && code !== 'OPEN_COMMENT') {
      const told = isAtComment ? sentences.FOREIGN_COMMENT : message
      return { code: 'YAML_SYNTAX', message: told, hint: foreignComment }
    }
    const isBare = beginsBare.test(line) || (code !== 'BLOCK_AS_IMPLICIT_KEY' && bareInBraces.test(line))
    const hint = isBare
      ? 'A template that begins with `{{` or `{%` needs quotes around it.'
      : isEscapedQuote.test(line)
        ? "In single quotes `\\'` ends the text: write `''`, or use double quotes."
        : hints[code]
    return { code: code === 'DUPLICATE_KEY' ? code : 'YAML_SYNTAX', message, hint }
  }
}
