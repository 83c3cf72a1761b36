/** Returns the text of a whole file as it may be shown: without secrets, and with every line where it was. */

import { isRecord } from '../values/is-record.ts'
import { maskLine, maskText, secretSpansOf, secretsIn } from '../values/secret.ts'
import type { TextParser, WrittenText } from './parse-text.ts'
import { findLineStarts, lineWithSecrets } from './places.ts'

/**
 * A secret is what diagnostics hide: the value of a key that is named like one, and credentials in addresses. References
 * stay readable. In a text that is neither YAML nor JSON each line is searched on its own.
 */
export async function withoutSecrets(written: WrittenText, parser: TextParser): Promise<string> {
  const { text } = written
  const parsed = await parser.parse(written)
  const isSound = !('problems' in parsed)
  // The parsed text has other comments, and its offsets are the same.
  const lineStarts = findLineStarts(text)
  const placed = { text, lineStarts, secrets: isSound ? parsed.secrets : [] }
  const lines = lineStarts.map((_, index) => {
    const { content, spans } = lineWithSecrets(placed, index + 1)
    return maskLine(content, isSound ? spans : [...spans, ...secretSpansOf(content)], 1).text
  })
  const others = isSound ? secretsIn(parametersIn(parsed.value)) : []
  return others.reduce((shown, secret) => shown.replaceAll(secret, () => maskText(secret)), lines.join('\n'))
}

/** The parameters of transforms in the mappings of a file, which may hold secrets too. */
function parametersIn(value: unknown): unknown[] {
  if (!isRecord(value)) return []
  const { hooks } = value
  const lists = [value['mappings'], isRecord(hooks) ? hooks['mappings'] : undefined]
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.map((entry) => (isRecord(entry) ? entry['transform'] : undefined)) : [],
  )
}
