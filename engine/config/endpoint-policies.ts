/** Owns joining endpoint policies: the configuration's and those of all mapping files. */

import type { CheckedFile } from './checked-file.ts'
import type { Configuration, EndpointPolicy } from './configuration.ts'
import type { ConfigurationValue } from './configuration-schema.ts'
import { checkEndpointName } from './endpoint-name.ts'
import { deepFreeze } from './entries.ts'
import type { Findings } from './findings.ts'
import type { MappingFileValue } from './mapping-schema.ts'
import { type Path, writePath } from './path.ts'
import type { Source } from './source.ts'

/** The configuration's policy wins over a file's, key by key; two files cannot speak about one endpoint. */
export function mergeEndpoints(
  main: CheckedFile<ConfigurationValue> | undefined,
  files: readonly CheckedFile<MappingFileValue>[],
  findings: Findings,
): Configuration['endpoints'] {
  const merged: Record<string, EndpointPolicy> = Object.create(null)
  const owners = new Map<string, Source>()
  for (const { source, value } of files) {
    for (const [name, policy] of policiesIn(source, value.endpoints, ['endpoints'], findings)) {
      const owner = owners.get(name)
      if (owner) {
        const { line, column } = owner.place(['endpoints', name], 'key')
        const message = `\`${writePath(['endpoints', name])}\` is already named at ${owner.name}:${line}:${column}`
        const hint = 'Keep the policy of one endpoint in one file, or in the configuration, which wins.'
        findings.report(source, {
          path: ['endpoints', name],
          at: 'key',
          code: 'DUPLICATE_ENDPOINT',
          message,
          hint,
        })
      } else owners.set(name, source)
      merged[name] = policy
    }
  }
  if (main) {
    const path = ['hooks', 'endpoints']
    for (const [name, policy] of policiesIn(main.source, main.value.hooks?.endpoints, path, findings)) {
      merged[name] = { ...merged[name], ...policy }
    }
  }
  return deepFreeze(merged)
}

function* policiesIn(
  source: Source,
  policies: unknown,
  path: Path,
  findings: Findings,
): Iterable<[string, EndpointPolicy]> {
  if (!findings.isSound(source, path) || typeof policies !== 'object' || policies === null) return
  for (const [name, policy] of Object.entries(policies)) {
    const finding = checkEndpointName(name, [...path, name], 'key')
    if (finding) findings.report(source, finding)
    yield [name, { ...policy }]
  }
}
