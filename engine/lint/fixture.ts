/** Makes the configurations that tests of lint use. */

import { configurationOf, type Mapping } from '../compile/fixture.ts'
import type { Configuration, TestEntry, TestSource } from '../config/configuration.ts'
import type { Diagnostic } from '../config/file/diagnostic.ts'
import { lintConfiguration } from './lint-configuration.ts'
import type { Sample } from './sample.ts'

/** Returns a mapping whose other fields have no findings. */
export function mappingOf(id: string, mapping: Mapping = {}): Mapping {
  return { id, message: 'Look at it.', ...mapping }
}

/** Returns a test that expects a mapping. */
export function testOf(
  mapping: string,
  request: Partial<TestSource['request']> & Pick<TestSource['request'], 'body'>,
): TestEntry {
  const place = { file: '/etc/reveille/mappings/test.yaml', line: 1, column: 1, text: '' }
  return {
    value: { name: `it reaches ${mapping}`, request: { endpoint: 'test', ...request }, expect: { mapping } },
    origin: { kind: 'file', name: 'mappings/test.yaml' },
    locate: () => place,
    label: 'mappings/test.yaml:1:1',
  }
}

interface LintFixture {
  readonly tests?: readonly TestEntry[]
  readonly samples?: readonly Sample[]
  /** Changes the configuration that the mappings make. */
  readonly alter?: (configuration: Configuration) => Configuration
}

/** Lints the mappings and leaves warnings about missing tests out. */
export async function lintOf(
  mappings: readonly Mapping[],
  { tests = [], samples, alter = (same) => same }: LintFixture = {},
): Promise<readonly Diagnostic[]> {
  const configuration = alter({ ...configurationOf(mappings), tests })
  return (await lintConfiguration({ configuration, samples })).filter(({ code }) => code !== 'MISSING_TESTS')
}

export function codesOf(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.map(({ code }) => code)
}
