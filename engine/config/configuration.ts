/** The loaded configuration: valid, with the place of every entry, ready to compile. */

import type { Diagnostic, Place } from './diagnostic/diagnostic.ts'
import type { FieldName } from './fields.ts'
import type { endpointPolicySchema } from './schema/policy-schema.ts'
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

/** One wanted header: a text, any of a list, or a test; several tests must all hold. */
export type HeaderPattern =
  | string
  | readonly string[]
  | { readonly exists?: boolean; readonly pattern?: string }

/** One of several channels that a reply goes to. Both may be templates. */
export interface Target {
  readonly channel: string
  readonly to?: string
}

/** How requests of one key become one run. */
export interface Coalesce {
  readonly key: string
  /** How long a run waits for another request. */
  readonly windowMs: number
  /** How long it waits in all. */
  readonly maxWaitMs: number
  readonly keep: 'latest' | 'all'
  readonly maxRunsPerHour: number
}

/** What makes a request one that was seen before. For what is absent, the provider's way holds. */
export interface DedupeSource {
  /** False: every request counts. */
  readonly enabled: boolean
  /** JSONata, or a template. */
  readonly key?: string
  readonly windowMs?: number
}

/** The fields of design 4.1 that this version knows. Aliases (`messageTemplate`, `textTemplate`) are already folded. */
export interface MappingSource {
  readonly description?: string
  readonly match?: {
    /** May hold `:name` segments. */
    readonly path?: string
    readonly source?: string
    /** Names in lower case. */
    readonly headers?: Readonly<Record<string, HeaderPattern>>
    /** As written; `compile/match/body-pattern.ts` reads it. */
    readonly body?: Readonly<Record<string, unknown>>
    readonly when?: string
  }
  /** JSON Schema of the payload: as written, or what the named file holds. */
  readonly schema?: boolean | Readonly<Record<string, unknown>>
  /** JSONata. */
  readonly forEach?: string
  /** Name -> JSONata, in the order in which they are computed. */
  readonly vars?: Readonly<Record<string, string>>
  readonly action: 'wake' | 'agent'
  readonly text?: string
  readonly mode?: string
  readonly message?: string
  readonly name?: string
  readonly sessionKey?: string
  readonly wakeMode?: string
  readonly deliver?: boolean | string
  readonly channel?: string
  readonly to?: string
  readonly deliverTo?: readonly Target[]
  readonly model?: string
  readonly thinking?: string
  readonly timeoutSeconds?: number | string
  readonly runner?: string
  readonly transform?: {
    /** As `moduleName` makes it. */
    readonly module: string
    readonly export?: string
    /** As written, with its references: {@link MappingEntry.parameters} has their values. */
    readonly with?: Readonly<Record<string, unknown>>
  }
  readonly dedupe?: DedupeSource
  /** Absent: `queue`. */
  readonly busy?: 'queue' | 'reject'
  /** Its `key` is a template, or JSONata. */
  readonly coalesce?: Coalesce
  readonly strict?: boolean
  readonly continue?: boolean
  readonly allowPayloadRouting?: boolean
  readonly allowUnsafeExternalContent?: boolean
}

/** One of the `tests:` as written, its shape checked, its places known. */
export interface TestEntry {
  readonly value: TestSource
  readonly origin: Origin
  /** As of a {@link MappingEntry}. */
  locate(path: readonly (string | number)[], offset?: number): Place
  readonly label: string
}

export interface TestSource {
  readonly name: string
  readonly request: {
    readonly endpoint: string
    /** Names in lower case. */
    readonly headers?: Readonly<Record<string, string>>
    readonly query?: Readonly<Record<string, string>>
    /** The payload; absent where there is a `bodyText`. */
    readonly body?: unknown
    /** What the file of `bodyFile` holds, or a payload whose numbers only text can hold; decoded as a received body. */
    readonly bodyText?: string
  }
  /** ISO 8601. Default: 2026-01-01T00:00:00Z. */
  readonly now?: string
  readonly expect: Expectation
}

/**
 * What is expected of one request: at least one key. Where it speaks of an action and of no outcome, `accepted` is
 * expected. `actions` never stands beside what speaks of a single action.
 */
export interface Expectation extends ExpectedAction {
  readonly outcome?: 'accepted' | 'ignored' | 'skipped' | 'refused'
  readonly status?: number
  /** A stable code of the HTTP contract. */
  readonly code?: string
  /** Why it was ignored, skipped or refused. */
  readonly reason?: Expected
  /** Exactly these actions, in this order. */
  readonly actions?: readonly ExpectedAction[]
}

/** What is expected of one action; what is not named may be anything. */
export interface ExpectedAction extends Readonly<Partial<Record<ExpectedField, Expected>>> {
  /** The id of the mapping that made it; without an action, of the one that skipped or refused. */
  readonly mapping?: string
  readonly action?: 'wake' | 'agent'
  /** Whether it goes without the boundary. */
  readonly trusted?: boolean
  /** The element's position, from 0, for a mapping with `forEach`. */
  readonly index?: number
  /** Exactly these targets, in this order. */
  readonly deliverTo?: readonly { readonly channel: Expected; readonly to?: Expected }[]
}

/**
 * `prompt` is what the model will see: `message` or `text` with the boundary applied. `coalesce` and `dedupe` are
 * their keys; absent where the request stands alone, or counts each time.
 */
export type ExpectedField = FieldName | 'prompt' | 'runner' | 'busy' | 'coalesce' | 'dedupe'

/** A value that must be equal, or tests that must all hold. */
export type Expected = string | number | boolean | ExpectedTests

/** At least one of them. The tests of texts fail for a value that is none, and all but `exists` and `not` for an absent one. */
export interface ExpectedTests {
  readonly equals?: string | number | boolean
  /** One text, or several that must all be in it. */
  readonly contains?: string | readonly string[]
  readonly prefix?: string
  readonly suffix?: string
  /** A regular expression that is found somewhere in it. */
  readonly pattern?: string
  readonly exists?: boolean
  /** A test that must not hold; it has no `not` itself. */
  readonly not?: string | number | boolean | Omit<ExpectedTests, 'not'>
}

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
