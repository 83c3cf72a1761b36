/** Reads the acknowledgement: how an agent says that it has nothing to say. */

/** Says so in a run of any kind, as it does in OpenClaw. */
const silentToken = 'NO_REPLY'

/** What a model may wrap around the token: emphasis, quotes, full stops, a tick. */
const decoration = /^[\s\p{P}\p{S}\p{M}\p{Cf}]*$/u

/** Of one kind at one edge of a reply; it bounds what a reply of nothing else costs. */
const mostTokens = 4

/** A longer text is a reply that mentions the token. Characters, beside the token itself. */
const longestDecoration = 200

/** Markup that is made of letters and digits, and what is left of it. */
const markup: readonly (readonly [RegExp, string])[] = [
  // Nobody sees it, wherever it stands: a soft hyphen, white space without width, a byte order mark.
  [/[\u00ad\u200b-\u200d\u2060\ufeff]/gu, ''],
  [/<!--.*?-->/gsu, ''],
  // With attributes as HTML writes them: what else stands in angle brackets is a remark.
  [/<\/?[a-z][a-z0-9-]*(?:\s+[\w:-]+=(?:"[^"]*"|'[^']*'|[^\s"'<>]+))*\s*\/?>/giu, ''],
  [/&(?:nbsp|quot|apos|amp|lt|gt|ensp|emsp|thinsp|zwj|zwnj);/giu, ' '],
  // The language of a code fence.
  [/^([\s>]*)(?:`{3,}|~{3,})[ \t]*[\w+#.-]+[ \t]*$/gmu, '$1'],
  // A list's number, and the box of a task.
  [/^([\s>]*)(?:[-*+]|\d{1,3}[.)])[ \t]+(?:\[[ xX]\][ \t]+)?/u, '$1'],
  [/\]\([^()\s]*\)/gu, ']'],
  [/[0-9]\ufe0f?\u20e3/gu, ''],
  // Last: a mark that is escaped is none.
  [/\\([!-/:-@[-`{-~])/gu, '$1'],
]

/**
 * What of a reply is to be delivered: nothing where it is `NO_REPLY` or the acknowledgement alone, else the reply
 * without those that stand as words of their own at its beginning or end.
 */
export function withoutTokens(reply: string, ackToken: string): string {
  const tokens = [ackToken, silentToken]
  if (tokens.some((token) => isAckOnly(reply, token))) return ''
  // A token such as `OK` is a word that a reply may well begin or end with.
  const stripped = tokens.filter((token) => /^[A-Z\d]+(?:_[A-Z\d]+)+$/.test(token))
  let rest = reply
  for (let round = 0; round < mostTokens; round++) {
    for (const token of stripped) rest = withoutEdges(rest, token)
  }
  return rest
}

/** In emphasis or quotes of its own, and with the full stop behind it. */
function withoutEdges(reply: string, token: string): string {
  const marked = `([*_~\`"']{0,3})${token}\\1[.,:;!…]*`
  if (!reply.includes(token)) return reply
  return reply
    .replace(new RegExp(`^\\s*${marked}(?:(?:[^\\S\\n]*\\n)+|[^\\S\\n]+|$)`), '')
    .replace(new RegExp(`(?<=\\s)${marked}\\s*$`), '')
    .trimEnd()
}

/** True when the reply is the token alone, whatever markup, punctuation and white space surround it. */
export function isAckOnly(reply: string, token: string): boolean {
  const text = reply.trim()
  if (token === '' || text.length > token.length + longestDecoration) return false
  if (isDecorated(text, token)) return true
  const bare = markup.reduce((rest, [pattern, left]) => rest.replace(pattern, left), text)
  return isDecorated(bare, token)
}

function isDecorated(text: string, token: string): boolean {
  const start = text.indexOf(token)
  if (start < 0) return false
  return decoration.test(text.slice(0, start)) && decoration.test(text.slice(start + token.length))
}
