/** The loaded configuration: valid, with the place of every entry, ready to compile. */

import type { Diagnostic, Place } from './diagnostic/diagnostic.ts'
import type { DeepReadonly } from './freeze-deep.ts'
import type { MappingValue } from './schema/mapping-schema.ts'
import type { endpointPolicySchema } from './schema/policy-schema.ts'
import type { TestValue } from './schema/test-schema.ts'
import type { Static } from './schema/type.ts'
import type { Settings } from './settings.ts'

export interface Configuration {
  readonly settings: Settings
  /**
   * In matching order: the configuration's own, then the files of `mappingsDir` by relative path, then presets in
   * their listed order. Those with `enabled: false` are left out.
   */
  readonly mappings: readonly MappingEntry[]
  /** Mappings with `enabled: false`, which explain why one did not match. */
  readonly disabled: readonly MappingEntry[]
  /** The `tests:` of mapping files and of the presets in use, in the order of their files. */
  readonly tests: readonly TestEntry[]
  /** Policies by endpoint name, as the texts of `match.path`. */
  readonly endpoints: Readonly<Record<string, EndpointPolicy>>
  /** SHA-256 in hex over the content of every file and environment value that went into it. */
  readonly digest: string
  /**
   * Every file that was read, as text by its absolute path: enough to load it all again. Without `.env` and the targets
   * of `${file:}`.
   */
  readonly sources: ReadonlyMap<string, string>
  /** Files and folders whose change may change the configuration; absolute. */
  readonly watched: readonly string[]
  readonly warnings: readonly Diagnostic[]
  /** Variables and files that references name and that are not set, sorted; none where that is an error. */
  readonly unset: readonly string[]
  /**
   * What may not be shown, wherever it comes from: the values of all references, and what stands under a secret's name.
   * Without those of fewer than eight characters. Each once.
   */
  readonly secrets: readonly string[]
  /** The place of a key of the configuration file by its path (`['channels', 'slack']`), or of the nearest above it. */
  locate(path: readonly (string | number)[]): Place
}

/** The schema documents the keys. In `token` the newest comes first. */
export type EndpointPolicy = Static<typeof endpointPolicySchema>

export type Auth = NonNullable<EndpointPolicy['auth']>

/** So many requests in so long, at most a day: `600/1m`. */
export type RatePolicy = NonNullable<EndpointPolicy['rate']>

/** The kind of file in which an entry was written; a preset goes by its name. */
export interface Origin {
  readonly kind: 'configuration' | 'file' | 'preset'
  /** `reveille.yaml`, `mappings/github.yaml`, or a preset's `github`. */
  readonly name: string
}

/** A mapping as written, its shape checked, its places known. */
export interface MappingEntry {
  readonly id: string
  readonly value: MappingSource
  readonly origin: Origin
  /** `transform.with` with the values of its references, which may be secret. Frozen. Absent where there is none. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /**
   * The place of a field by its path from the entry (`['match', 'when']`); of the entry for `[]`. With `offset`,
   * the place of that character of the field's text, from 0 in UTF-16 units.
   */
  locate(path: readonly (string | number)[], offset?: number): Place
  /** Relative to the configuration's folder, `file:line:column` of the entry. */
  readonly label: string
}

/** How requests of one key become one run. */
export interface Coalesce extends Omit<NonNullable<WrittenMapping['coalesce']>, 'window' | 'maxWait'> {
  /** How long a run waits for another request. */
  readonly windowMs: number
  /** How long it waits in all. */
  readonly maxWaitMs: number
}

/** What makes a request one that was seen before. For what is absent, the provider's way holds. */
export interface DedupeSource extends Omit<NonNullable<WrittenMapping['dedupe']>, 'window'> {
  readonly windowMs?: number
}

/** Fields that become others, or none. */
type FoldedField = 'id' | 'enabled' | 'textTemplate' | 'messageTemplate' | 'schema' | 'coalesce' | 'dedupe'

/**
 * A mapping with one name for each field: names of headers are in lower case, and `transform.module` is as `moduleName` makes
 * it. {@link MappingEntry.parameters} has the values of the references in `transform.with`.
 */
export interface MappingSource extends Omit<WrittenMapping, FoldedField> {
  /** JSON Schema of the payload: as written, or what the named file holds. */
  readonly schema?: boolean | Readonly<Record<string, unknown>>
  readonly coalesce?: Coalesce
  readonly dedupe?: DedupeSource
}

type WrittenMapping = DeepReadonly<MappingValue>

/** One of the `tests:` as written, its shape checked, its places known. */
export interface TestEntry {
  readonly value: TestSource
  readonly origin: Origin
  /** As of a {@link MappingEntry}. */
  locate(path: readonly (string | number)[], offset?: number): Place
  readonly label: string
}

type WrittenTest = DeepReadonly<TestValue>

export interface TestSource extends Omit<WrittenTest, 'name' | 'request'> {
  readonly name: string
  /** Names of headers are in lower case. */
  readonly request: Omit<WrittenTest['request'], 'bodyFile'> & {
    /** What the file of `bodyFile` holds, or a payload whose numbers only text can hold; decoded as a received body. */
    readonly bodyText?: string
  }
}

/**
 * What is expected of one request. Where it speaks of an action and of no outcome, `accepted` is expected. `actions` never
 * stands beside what speaks of a single action.
 */
export type Expectation = TestSource['expect']

/** What is expected of one action; what is not named may be anything. */
export type ExpectedAction = NonNullable<Expectation['actions']>[number]

/** What loading answers: a configuration, or why there is none. */
export type Loaded =
  | { readonly ok: true; readonly configuration: Configuration }
  | {
      readonly ok: false
      /** Errors first, then warnings. */
      readonly diagnostics: readonly Diagnostic[]
      readonly watched: readonly string[]
      /** Over what could be read. */
      readonly digest: string
      /**
       * The settings with the mappings that nothing is wrong with, without transforms and tests: what else is wrong with them
       * can be said at once. Absent where the settings are at fault.
       */
      readonly rest?: Configuration
    }
