/** Describes the errors of the YAML parser. The parser's own messages would quote the text, which may be a secret. */

import type { ErrorCode } from 'yaml'
import type { Diagnostic } from './diagnostic.ts'
import { type PlacedText, placeAt, positionAt } from './places.ts'

/** For a JSON5 comment outside brackets, where YAML reads it as text. */
export const foreignComment =
  'Comments begin with `#` here; `//` and `/*` are comments only inside brackets. Text that begins with them needs quotes.'

/** The parser's codes, and our own for mistakes that it does not find. */
type FaultCode =
  | ErrorCode
  | 'BAD_MERGE'
  | 'FOREIGN_COMMENT'
  | 'LOST_ALIAS'
  | 'OPEN_COMMENT'
  | 'TOO_MANY_ALIASES'

const sentences: Readonly<Record<FaultCode, string>> = {
  ALIAS_PROPS: 'An alias takes no anchor and no tag',
  BAD_ALIAS: 'This alias is malformed',
  BAD_COLLECTION_TYPE: 'This tag does not fit its value',
  BAD_DIRECTIVE: 'This line begins with %, which only YAML directives do',
  BAD_DQ_ESCAPE: 'This text in double quotes holds a backslash that escapes nothing known',
  BAD_INDENT: 'The indentation does not fit, or a bracket before it was not closed',
  BAD_MERGE: '`<<` merges only a map, an alias of one, or a list of them',
  BAD_PROP_ORDER: 'Anchors and tags must come before their value',
  BAD_SCALAR_START: 'Text without quotes cannot begin with this character',
  BLOCK_AS_IMPLICIT_KEY: 'A second `key:` begins where text was expected',
  BLOCK_IN_FLOW: 'Lines of `key: value` or `- item` are not allowed inside brackets',
  DUPLICATE_KEY: 'This key appears twice',
  FOREIGN_COMMENT: 'This looks like a JSON5 comment, but would be read as text',
  IMPOSSIBLE: 'This text cannot be read as YAML',
  KEY_OVER_1024_CHARS: 'A key is longer than 1024 characters',
  LOST_ALIAS: 'This alias has no anchor before it',
  MISSING_CHAR: 'Something is missing here: a closing quote or bracket, a comma, or the space after a colon',
  MULTILINE_IMPLICIT_KEY: 'A key cannot go over several lines',
  MULTIPLE_ANCHORS: 'Only one anchor is allowed here',
  MULTIPLE_DOCS: 'The file holds a second document after `---`',
  MULTIPLE_TAGS: 'Only one tag is allowed here',
  NON_STRING_KEY: 'A map or list was found where a key was expected',
  OPEN_COMMENT: 'This comment has no end',
  RESOURCE_EXHAUSTION: 'The file is nested too deeply',
  TAB_AS_INDENT: 'A tab indents this line',
  TAG_RESOLVE_FAILED: 'This tag is not known',
  TOO_MANY_ALIASES: "The file's aliases expand to more values than can be read",
  UNEXPECTED_TOKEN: 'This does not belong here',
}

const hints: Partial<Record<FaultCode, string>> = {
  BAD_DQ_ESCAPE: 'Double the backslash, or use single quotes.',
  BAD_INDENT: 'Keys of one map begin in one column; look for an open bracket or quote above.',
  BAD_SCALAR_START: 'Put the text in quotes.',
  BLOCK_AS_IMPLICIT_KEY: 'Text that holds `: ` needs quotes, or a `|` and the text on the next lines.',
  DUPLICATE_KEY: 'Keep one of the two, and move the contents of the other into it.',
  LOST_ALIAS: 'Text that begins with `*` needs quotes; an anchor is written `&name` before its first alias.',
  MISSING_CHAR: 'Close what this line or one above it opened.',
  OPEN_COMMENT: 'Write `*/` after it; a text that begins with `/*` needs quotes.',
  MULTIPLE_DOCS: 'Write one document per file.',
  TAB_AS_INDENT: 'Indent with spaces.',
  TAG_RESOLVE_FAILED: 'Remove the tag; text that begins with `!` needs quotes.',
  TOO_MANY_ALIASES:
    'Write fewer aliases of anchors that hold aliases themselves, and none inside its own anchor.',
  UNEXPECTED_TOKEN: 'Text that begins with a quote and goes on after it needs quotes around the whole.',
}

/** These keep their own code. All others become `YAML_SYNTAX`. */
const ownCodes: ReadonlySet<FaultCode> = new Set(['DUPLICATE_KEY', 'TOO_MANY_ALIASES'])

/**
 * With these codes the parser understood the text, so its line need not be searched for secrets, and the cause need not be
 * guessed.
 */
const semanticCodes: ReadonlySet<FaultCode> = new Set(['LOST_ALIAS', 'TOO_MANY_ALIASES'])

/** An error of the parser with its place. */
export interface Fault {
  readonly code: FaultCode
  readonly offset: number
}

interface FaultDescription {
  readonly code: string
  readonly message: string
  readonly hint?: string
}

/** One mistake often causes several errors on its line. Only the first is reported. */
export function problemsOf(faults: readonly Fault[], placed: PlacedText): Diagnostic[] {
  const explain = createExplainer(placed.text)
  const seen = new Set<number>()
  let isMisindented = false
  return faults.flatMap((fault) => {
    const { offset } = fault
    const code = isWrongColumn(fault, placed) ? 'BAD_INDENT' : fault.code
    const isUnderstood = semanticCodes.has(code)
    const place = placeAt(placed, offset, !isUnderstood)
    // A line that begins in the wrong place is a consequence of a mistake above it.
    const follows = code === 'BAD_INDENT' ? isMisindented : code === 'UNEXPECTED_TOKEN' && seen.size > 0
    const isConsequence = follows && isLineStart(placed, offset)
    isMisindented ||= code === 'BAD_INDENT'
    if (isConsequence || seen.has(place.line)) return []
    seen.add(place.line)
    const description = isUnderstood ? describeCode(code) : explain(code, place.text, offset)
    return [{ severity: 'error' as const, place, ...description }]
  })
}

/** A key left of the other keys of its list item, where the parser expects the dash of another item. */
function isWrongColumn({ code, offset }: Fault, { text, lineStarts }: PlacedText): boolean {
  return (
    code === 'MISSING_CHAR' && lineStarts.includes(offset) && /^ +[^\s#].*:(\s|$)/.test(lineAt(text, offset))
  )
}

function isLineStart({ text, lineStarts }: PlacedText, offset: number): boolean {
  const { line } = positionAt({ text, lineStarts }, offset)
  return text.slice(lineStarts[line - 1], offset).trim() === ''
}

/** A template without quotes at the beginning of the value after a key or a dash, in a block or between braces. */
const bareTemplateAtStart = /^\s*(?:-\s+)*(?:["']?[\w.$-]+["']?\s*:\s+)?\{[{%]/
const bareTemplateInBraces = /[{,]\s*["']?[\w.$-]+["']?\s*:\s+\{[{%]/

/** A reference without quotes between braces or brackets, where its own braces open a map. */
const bareReference = /[{[,]\s*(?:["']?[\w.$-]+["']?\s*:\s+)?\$\{/

/** The end of a block, before a comma that was pasted with it. */
const isClosed = /[}\]]\s*$/

/** An apostrophe in a text as JSON5 writes it. */
const isEscapedQuote = /'[^'"]*\\'/

/**
 * Explains the errors of a text: `line` is the one with the error, `offset` its place in the text. Facts about the
 * whole text are computed once.
 */
function createExplainer(text: string): (code: FaultCode, line: string, offset: number) => FaultDescription {
  const isConflict = /^<{7} /m.test(text)
  const hasForeignComment = /^\s*\/[/*]/m.test(text)
  return (code, line, offset) => {
    if (isConflict || /^(<{7}|={7}|>{7})( |$)/.test(line)) {
      return { code: 'MERGE_CONFLICT', message: 'The file holds a merge conflict', hint: 'Resolve it first.' }
    }
    const isAtComment = /^\/[/*]/.test(text.slice(offset, offset + 2))
    if ((hasForeignComment || isAtComment) && code !== 'OPEN_COMMENT') {
      const { message } = describeCode(isAtComment ? 'FOREIGN_COMMENT' : code)
      return { code: 'YAML_SYNTAX', message, hint: foreignComment }
    }
    const hint = hintAt(code, line, text, offset)
    return { ...describeCode(code), ...(hint !== undefined && { hint }) }
  }
}

/** Returns a hint at the probable mistake, or undefined where the code's own hint is the best one. */
function hintAt(code: FaultCode, line: string, text: string, offset: number): string | undefined {
  const isBare =
    bareTemplateAtStart.test(line) || (code !== 'BLOCK_AS_IMPLICIT_KEY' && bareTemplateInBraces.test(line))
  if (isBare) return 'A template that begins with `{{` or `{%` needs quotes around it.'
  if (bareReference.test(lineAt(text, offset)))
    return 'A reference between braces needs quotes around it, as in { token: "${NAME}" }.'
  if (isEscapedQuote.test(line))
    return "In single quotes `\\'` ends the text: write `''`, or use double quotes."
  if (text[offset] === ',' && isClosed.test(text.slice(0, offset)))
    return 'Remove the comma: commas separate items between brackets or braces only.'
  return undefined
}

/** The original line; the displayed one hides possible secrets, including references. */
function lineAt(text: string, offset: number): string {
  const end = text.indexOf('\n', offset)
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, end === -1 ? undefined : end)
}

function describeCode(code: FaultCode): FaultDescription {
  // A newer parser may have codes that these tables lack.
  const message = sentences[code] ?? sentences.IMPOSSIBLE
  const hint = hints[code]
  return { code: ownCodes.has(code) ? code : 'YAML_SYNTAX', message, ...(hint !== undefined && { hint }) }
}
