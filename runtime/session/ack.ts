/** Recognises acknowledgements: replies by which an agent says that it has nothing to say. */

/** This token means silence in a run of any kind, as in OpenClaw. */
const silentToken = 'NO_REPLY'

/** The characters that a model may put around the token: emphasis, quotes, full stops, a tick. */
const decoration = /^[\s\p{P}\p{S}\p{M}\p{Cf}]*$/u

/** Maximum number of tokens removed at one edge of a reply. It bounds the cost of a reply of nothing but tokens. */
const maxTokens = 4

/** A text with more characters beside the token is a reply that mentions it. */
const maxDecorationLength = 200

/** Markup that is made of letters: tags, comments, entities, and the language of a code fence. A remark in angle brackets is none. */
const markup =
  /<!--.*?-->|<\/?[a-z]+\d?(?:\s+[\w-]+=[^<>]*)?\s*\/?>|&(?:nbsp|quot|amp|lt|gt);|(?<=```)\w+$/gimsu

/**
 * Returns what of a reply is to be delivered: nothing if it is `NO_REPLY` or the acknowledgement alone, otherwise the reply
 * without those tokens at its beginning and end.
 */
export function withoutTokens(reply: string, ackToken: string): string {
  const tokens = [ackToken, silentToken]
  if (tokens.some((token) => isAckOnly(reply, token))) return ''
  // A reply may well begin or end with a token such as `OK`, so only tokens with an underscore are removed.
  const stripped = tokens.filter((token) => /^[A-Z\d]+(?:_[A-Z\d]+)+$/.test(token))
  let rest = reply
  for (let round = 0; round < maxTokens; round++) {
    for (const token of stripped) rest = withoutEdges(rest, token)
  }
  return rest
}

/** Removes the token at both edges, with emphasis or quotes of its own and the full stop after it. */
function withoutEdges(reply: string, token: string): string {
  const marked = `([*_~\`"']{0,3})${token}\\1[.,:;!…]*`
  if (!reply.includes(token)) return reply
  return reply
    .replace(new RegExp(`^\\s*${marked}(?:(?:[^\\S\\n]*\\n)+|[^\\S\\n]+|$)`), '')
    .replace(new RegExp(`(?<=\\s)${marked}\\s*$`), '')
    .trimEnd()
}

/** Returns whether the reply is the token alone, whatever markup, punctuation and white space surround it. */
export function isAckOnly(reply: string, token: string): boolean {
  const text = reply.trim()
  if (token === '' || text.length > token.length + maxDecorationLength) return false
  if (isDecorated(text, token)) return true
  return isDecorated(text.replace(markup, ' '), token)
}

function isDecorated(text: string, token: string): boolean {
  const start = text.indexOf(token)
  if (start < 0) return false
  return decoration.test(text.slice(0, start)) && decoration.test(text.slice(start + token.length))
}
