/** Owns what the parts of this room and its callers agree on: from a module's file to the answer of one call. */

import type { Segment } from '../boundary/segment.ts'
import type { Diagnostic, Place } from '../config/diagnostic/diagnostic.ts'
import type { TransformLimits } from '../config/settings.ts'

/** A module as the configuration names it. */
export interface WantedModule {
  /** Relative to `transformsDir`, with `/` and without `./`: `review.ts`. */
  readonly module: string
  /** The exports that mappings name; `default` where they name none. */
  readonly exports: readonly string[]
  /** Of the first mapping's `transform.module`. */
  readonly place: Place
  readonly limits: TransformLimits
}

/** A module with everything that it imports, in one file that is named after its content. */
export interface Bundle {
  readonly module: string
  /** SHA-256 in hex over the code, its source map, and the content of whatever stays outside of it. */
  readonly digest: string
  /** The `.mjs` file, with its source map beside it; absolute. */
  readonly file: string
  /** SHA-256 in hex of that file, which the digest names and does not hold. Absent: kept before it was written down. */
  readonly codeHash?: string
  /** Every file that went into it, packages' included; absolute. */
  readonly inputs: readonly string[]
}

export type Bundled =
  | {
      readonly ok: true
      /** By module. */
      readonly bundles: ReadonlyMap<string, Bundle>
      readonly watched: readonly string[]
      /** Absent: none. */
      readonly warnings?: readonly Diagnostic[]
    }
  | { readonly ok: false; readonly diagnostics: readonly Diagnostic[]; readonly watched: readonly string[] }

export interface BundleRequest {
  readonly modules: readonly WantedModule[]
  /** Absolute; need not exist where there are no modules. */
  readonly transformsDir: string
  /** The folder that files are named from in diagnostics: the configuration's. */
  readonly folder: string
}

export interface Bundler {
  /** Never rejects for what an author can write. Modules whose inputs did not change are not bundled again. */
  bundle(request: BundleRequest): Promise<Bundled>
  /** Deletes all bundles but those of these digests, and of the modules that were asked for last. */
  sweep(keep: Iterable<string>): Promise<void>
  /** Lets go of the bundler's process. */
  close(): Promise<void>
}

/** One call, as `resolve` makes it. Everything but `rawBody` is small or came out of the payload. */
export interface TransformCall {
  /** For the log. */
  readonly requestId: string | undefined
  /** Hears of each connection that the call opens: to which module it belongs, and where it leads. Absent: none is looked for. */
  readonly onCall?: ((module: string, target: string) => void) | undefined
  /** The payload is read from it by the worker, unless `form` or `unwrapped` says otherwise. */
  readonly rawBody: Uint8Array
  /** JSON that was unwrapped from a field of a form. */
  readonly unwrapped: string | undefined
  /** A form's fields: the body is no JSON. */
  readonly form: unknown
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly query: Readonly<Record<string, string | readonly string[] | undefined>>
  readonly path: string
  readonly params: Readonly<Record<string, string>>
  readonly vars: Readonly<Record<string, unknown>>
  readonly item: unknown
  readonly index: number | undefined
  /** Milliseconds since the Unix epoch. */
  readonly now: number
  /** Plain JSON: `action` and the fields. */
  readonly base: Readonly<Record<string, unknown>>
  /** A longer answer is a failure, in bytes of JSON. */
  readonly maxAnswerBytes: number
}

/** What a transform returned, as JSON can hold it; names and types of fields are for `resolve` to check. */
export type TransformAnswer =
  | { readonly kind: 'one'; readonly action: AnsweredAction }
  | { readonly kind: 'list'; readonly actions: readonly AnsweredAction[] }

/** `null`: skip. `undefined`: as the mapping rendered it. */
export type AnsweredAction = Readonly<Record<string, AnsweredField>> | null | undefined

export type AnsweredField = { readonly value: unknown } | { readonly prompt: readonly Segment[] }

/** Calls one export of one module. @throws TransformError */
export type TransformFunction = (call: TransformCall) => Promise<TransformAnswer>

/** What one snapshot's mappings call. */
export interface Transforms {
  /**
   * Undefined: the snapshot has no such module. `parameters`: plain JSON that each call is given as `context.with`; it
   * goes to the worker and nowhere else.
   */
  bind(
    module: string,
    exportName: string,
    parameters?: Readonly<Record<string, unknown>>,
  ): TransformFunction | undefined
}

export type TransformErrorCode =
  /** It threw, ended its worker, ran out of memory, or answered what no transform answers. */
  | 'TRANSFORM_FAILED'
  /** It said so, with `refuse`. */
  | 'TRANSFORM_REFUSED'
  | 'TRANSFORM_TIMEOUT'
  /** More calls wait than can be answered in time; the same request may succeed later. */
  | 'TRANSFORM_BUSY'

/** Why a call has no answer. The message begins with the module's name, and is for the log, the API and the console. */
export class TransformError extends Error {
  readonly code: TransformErrorCode
  /** The author's line, found through the source map. */
  readonly place: Place | undefined
  /** What the sender is answered. Present where the code is `TRANSFORM_REFUSED`. */
  readonly refusal: TransformRefusal | undefined

  constructor(
    code: TransformErrorCode,
    message: string,
    options?: ErrorOptions & { readonly place?: Place; readonly refusal?: TransformRefusal },
  ) {
    super(message, options)
    this.name = 'TransformError'
    this.code = code
    this.place = options?.place
    this.refusal = options?.refusal
  }
}

export interface TransformRefusal {
  /** From 400 to 499. */
  readonly status: number
  /** One line. */
  readonly message: string
}

/** A module of a candidate, to be loaded by workers. */
export interface OpenedModule extends WantedModule {
  readonly bundle: Bundle
}

/** A module that cannot be loaded, or that lacks an export. */
export interface LoadFailure {
  readonly module: string
  /** The missing export; absent where the module itself cannot be loaded. */
  readonly exportName?: string
  /** A sentence that begins with the module's name. */
  readonly message: string
  /** The author's line; else where the configuration names the module. */
  readonly place: Place
  readonly hint?: string
}

/** The transforms of one candidate. Workers are shared with every other candidate that has the same bundle. */
export interface OpenTransforms extends Transforms {
  /** Loads what no worker has loaded yet, once each. None: all of them are ready, with a worker each. */
  start(): Promise<readonly LoadFailure[]>
  /** The snapshot serves no more, or never will: workers end with their last call. Late calls are still answered. */
  release(): void
}

export interface TransformHost {
  /** `secrets` are hidden, from now on, in whatever a module of this host prints or throws. */
  open(modules: readonly OpenedModule[], secrets?: readonly string[]): OpenTransforms
  /** Ends every worker; calls under way fail. */
  close(): Promise<void>
}

/** What a host tells besides answers. */
export type TransformEvent =
  /** Something that the module wrote to its console. */
  | {
      readonly type: 'transform-output'
      readonly module: string
      readonly requestId?: string
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly text: string
    }
  /** So many lines were not told: the module writes more than the ring holds. */
  | { readonly type: 'transform-output-dropped'; readonly module: string; readonly lines: number }
  /** A worker ended though nobody wanted it to. */
  | { readonly type: 'worker-lost'; readonly module: string; readonly reason: string }
  /** A worker survived its termination for a second, and is left to itself. */
  | { readonly type: 'worker-abandoned'; readonly module: string; readonly abandoned: number }

export type TransformListener = (event: TransformEvent) => void
