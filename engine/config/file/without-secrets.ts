/** Returns the text of a whole file as it may be shown: without secrets, and with every line where it was. */

import { isRecord } from '../is-record.ts'
import {
  maskLine,
  maskText,
  operatorAddressSecretsOf,
  type Span,
  secretSpansOf,
  secretsIn,
} from '../secret.ts'
import type { TextParser, WrittenText } from './parse-text.ts'

/**
 * A secret is what diagnostics hide: the value of a key that is named like one, and credentials in addresses. References
 * stay readable. In a text that is neither YAML nor JSON each line is searched by itself.
 */
export async function withoutSecrets(written: WrittenText, parser: TextParser): Promise<string> {
  const parsed = await parser.parse(written)
  if ('problems' in parsed) return hideIn(written.text, [], secretSpansOf)
  // The parsed text has other comments, and its offsets are the same.
  const hidden = hideIn(written.text, parsed.secrets, () => [])
  const others = secretsIn(parametersIn(parsed.value))
  return others.reduce((text, secret) => text.replaceAll(secret, () => maskText(secret)), hidden)
}

function hideIn(text: string, secrets: readonly Span[], search: (line: string) => readonly Span[]): string {
  let start = 0
  return text
    .split('\n')
    .map((line) => {
      const from = start
      start += line.length + 1
      const end = line.trimEnd().length
      const known = secrets
        .filter((span) => span.start < from + end && span.end > from)
        .map((span) => ({
          start: Math.max(span.start - from, line.length - line.trimStart().length),
          end: Math.min(span.end - from, end),
        }))
      return maskLine(line, [...known, ...operatorAddressSecretsOf(line), ...search(line)], 1).text
    })
    .join('\n')
}

/** What the mappings of a file give to transforms, where secrets may stand too. */
function parametersIn(value: unknown): unknown[] {
  if (!isRecord(value)) return []
  const { hooks } = value
  const lists = [value['mappings'], isRecord(hooks) ? hooks['mappings'] : undefined]
  return lists.flatMap((list) =>
    Array.isArray(list) ? list.map((entry) => (isRecord(entry) ? entry['transform'] : undefined)) : [],
  )
}
