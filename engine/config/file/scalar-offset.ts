/** Owns the way back from a character of a text to its place in the YAML that spelt it. */

/**
 * `raw` is the scalar as written, quotes or block header included; `value` what it means. The answer is an
 * offset into `raw`: exact for plain, folded, literal and quoted text, and the last character that could be
 * followed where an escape such as `\\u0041` spells one.
 */
export function offsetInRaw(raw: string, value: string, wanted: number): number {
  const style = raw[0]
  let next = 0
  if (style === '"' || style === "'") next = 1
  else if (style === '|' || style === '>') next = raw.indexOf('\n') + 1
  let found = next
  for (let index = 0; index <= wanted; index++) {
    const character = value[index]
    if (character === undefined) return next
    if (/\s/.test(character)) {
      found = next
      if (style === '"' && raw[next] === '\\') next += 2
      else if (raw[next] === character || raw[next] === '\n' || raw[next] === '\r') next++
      continue
    }
    while (/\s/.test(raw[next] ?? '')) next++
    if (style === '"' && raw[next] === '\\') next++
    if (raw[next] !== character) return found
    found = next
    next += style === "'" && character === "'" ? 2 : 1
  }
  return found
}
