/** Defines the loaded configuration: valid, with the place of every entry, and ready to be compiled. */

import type { Diagnostic, Place } from './file/diagnostic.ts'
import type { ConfigurationValue } from './schema/configuration-schema.ts'
import type { MappingValue } from './schema/mapping-schema.ts'
import type { EndpointPolicy } from './schema/policy-schema.ts'
import type { TestValue } from './schema/test-schema.ts'
import type { Settings } from './settings.ts'
import type { DeepReadonly } from './values/freeze-deep.ts'

export type { Auth, EndpointPolicy, RatePolicy } from './schema/policy-schema.ts'

export interface Configuration {
  readonly settings: Settings
  /** What the configuration file says, with defaults and references filled in. {@link settings} is made from it. */
  readonly value: ConfigurationValue
  /**
   * The mappings in matching order: the configuration's own, those of `mappingsDir` by relative path, then presets in
   * their listed order. Those with `enabled: false` are left out.
   */
  readonly mappings: readonly MappingEntry[]
  /** Mappings with `enabled: false`, which are needed to explain why one did not match. */
  readonly disabled: readonly MappingEntry[]
  /** The `tests:` of mapping files and of the presets in use, in the order of their files. */
  readonly tests: readonly TestEntry[]
  /** Policies by endpoint name, as in `match.path`. */
  readonly endpoints: Readonly<Record<string, EndpointPolicy>>
  /** The SHA-256, in hex, of the content of every file and environment value in the configuration. */
  readonly digest: string
  /** The same without what each node has for itself, such as its port and data folder: equal on all nodes that decide alike. */
  readonly sharedDigest: string
  /**
   * Every file that was read, as text by its absolute path. They suffice to load it again, except for `.env` and the
   * targets of `${file:}`.
   */
  readonly sources: ReadonlyMap<string, string>
  /** The absolute paths of files and folders whose change may change the configuration. */
  readonly watched: readonly string[]
  readonly warnings: readonly Diagnostic[]
  /** Variables and files of references that are not set, sorted. Empty if that is an error. */
  readonly unset: readonly string[]
  /**
   * The strings that may not be shown anywhere: the values of all references, and values of keys that are named like
   * secrets. Each is listed once, if it has at least eight characters.
   */
  readonly secrets: readonly string[]
  /**
   * Returns the place of a key in the configuration file by its path (`['channels', 'slack']`), or of the nearest key
   * above it.
   */
  locate(path: readonly (string | number)[]): Place
}

/** The kind of file of an entry. A preset is identified by its name. */
export interface Origin {
  readonly kind: 'configuration' | 'file' | 'preset'
  /** `reveille.yaml`, `mappings/github.yaml`, or a preset's `github`. */
  readonly name: string
}

/** A mapping as written, with a checked shape and known places. */
export interface MappingEntry {
  readonly id: string
  /** The place in matching order, among enabled and disabled mappings. */
  readonly order: number
  readonly value: MappingSource
  readonly origin: Origin
  /** `transform.with` with the values of its references, which may be secret. Frozen. Absent if the mapping has none. */
  readonly parameters?: Readonly<Record<string, unknown>>
  /**
   * Returns the place of a field by its path from the entry (`['match', 'when']`), or of the entry for `[]`. With
   * `offset`, returns the place of that character of the field's text, from 0 in UTF-16 units.
   */
  locate(path: readonly (string | number)[], offset?: number): Place
  /** The `file:line:column` of the entry, relative to the configuration's folder. */
  readonly label: string
}

/** The settings by which requests with the same key become one run. */
export interface Coalesce extends Omit<NonNullable<WrittenMapping['coalesce']>, 'window' | 'maxWait'> {
  /** Milliseconds that a run waits for another request. */
  readonly windowMs: number
  /** Milliseconds that a run waits in total. */
  readonly maxWaitMs: number
}

/** The settings by which a repeated request is recognised. For absent keys the provider's values apply. */
export interface DedupeSource extends Omit<NonNullable<WrittenMapping['dedupe']>, 'window'> {
  readonly windowMs?: number
}

/** Fields that are merged into others, or dropped. */
type FoldedField = 'id' | 'enabled' | 'textTemplate' | 'messageTemplate' | 'schema' | 'coalesce' | 'dedupe'

/**
 * A mapping with one name for each field: names of headers are in lower case, and `transform.module` is normalised by
 * `moduleName`. {@link MappingEntry.parameters} has the values of the references in `transform.with`.
 */
export interface MappingSource extends Omit<WrittenMapping, FoldedField> {
  /** The JSON Schema of the payload: as written, or from the named file. */
  readonly schema?: boolean | Readonly<Record<string, unknown>>
  readonly coalesce?: Coalesce
  readonly dedupe?: DedupeSource
}

type WrittenMapping = DeepReadonly<MappingValue>

/** An entry of `tests:` as written, with a checked shape and known places. */
export interface TestEntry {
  readonly value: TestSource
  readonly origin: Origin
  /** Works like {@link MappingEntry.locate}. */
  locate(path: readonly (string | number)[], offset?: number): Place
  readonly label: string
}

type WrittenTest = DeepReadonly<TestValue>

export interface TestSource extends Omit<WrittenTest, 'name' | 'request'> {
  readonly name: string
  /** The names of headers are in lower case. */
  readonly request: Omit<WrittenTest['request'], 'bodyFile'> & {
    /**
     * The content of the file in `bodyFile`, or a payload with numbers that only text can hold. It is decoded like a
     * received body.
     */
    readonly bodyText?: string
  }
}

/**
 * The expected result of one request. With keys of an action and no outcome, `accepted` is expected. `actions` and
 * keys of a single action exclude each other.
 */
export type Expectation = TestSource['expect']

/** The expected fields of one action. Fields that are not named may have any value. */
export type ExpectedAction = NonNullable<Expectation['actions']>[number]

/** The result of loading: a configuration, or the reasons why there is none. */
export type Loaded =
  | { readonly ok: true; readonly configuration: Configuration }
  | {
      readonly ok: false
      /** Errors first, then warnings. */
      readonly diagnostics: readonly Diagnostic[]
      readonly watched: readonly string[]
      /** The digest of what could be read. */
      readonly digest: string
      /**
       * The settings with the valid mappings, without transforms and tests, so that the other mistakes in them can be
       * reported at once. Absent if the settings have mistakes.
       */
      readonly rest?: Configuration
    }
