/** Defines the types that the parts of this room and its callers agree on, from a module's file to the answer of a call. */

import type { Segment } from '../boundary/segment.ts'
import type { Diagnostic, Place } from '../config/file/diagnostic.ts'
import type { TransformLimits } from '../config/settings.ts'

/** A module as the configuration names it. */
export interface WantedModule {
  /** Relative to `transformsDir`, with `/` and without `./`: `review.ts`. */
  readonly module: string
  /** The exports that mappings name; `default` where they name none. */
  readonly exports: readonly string[]
  /** The place of the first mapping's `transform.module`. */
  readonly place: Place
  readonly limits: TransformLimits
}

/** A module with the author's files that it imports, in one file that is named after its content. Packages are imported from their places. */
export interface Bundle {
  readonly module: string
  /** SHA-256 in hex over the code, its source map, and what identifies the packages that it imports. */
  readonly digest: string
  /** The `.mjs` file, with its source map beside it; absolute. */
  readonly file: string
  /** SHA-256 in hex of that file. Absent in generations that an earlier version kept. */
  readonly codeHash?: string
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

export type BundledModule = Pick<WantedModule, 'module' | 'place'>

export interface BundleRequest {
  readonly modules: readonly BundledModule[]
  /** Absolute; need not exist where there are no modules. */
  readonly transformsDir: string
  /** The configuration's folder, which files in diagnostics are named from. */
  readonly folder: string
}

export interface Bundler {
  /** Never rejects. */
  bundle(request: BundleRequest): Promise<Bundled>
  /** Deletes all bundles except those of these digests and of the modules of the last request. */
  sweep(keep: Iterable<string>): Promise<void>
  /** Ends the bundler's process. */
  close(): Promise<void>
}

/** One call. Everything but `rawBody` is small or was taken from the payload. */
export interface TransformCall {
  /** For the log. */
  readonly requestId: string | undefined
  /** Is called for each connection that the call opens. Absent: connections are not watched. */
  readonly onCall?: ((module: string, target: string) => void) | undefined
  /**
   * Present if the answer has no effect: `refuse` runs the call in a worker that serves no requests, in which connections, other
   * processes and threads are refused. Absent: it is a request's call.
   */
  readonly dryRun?: DryRun | undefined
  /** Is called with what a dry run kept the call from. */
  readonly onStop?: ((stop: Stop) => void) | undefined
  /** The worker parses the payload from it, unless `form` or `unwrapped` holds one. */
  readonly rawBody: Uint8Array
  /** JSON that was unwrapped from a field of a form. */
  readonly unwrapped: string | undefined
  /** The fields of a form, which is no JSON. */
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
  /** Maximum size of a response as JSON, in bytes. */
  readonly maxAnswerBytes: number
}

export type DryRun = 'refuse' | 'call-out'

/** A call that a dry run stopped a transform from making. */
export interface Stop {
  readonly module: string
  /** `https://jira.example`, `the program git`. It holds no path and no query. */
  readonly target: string
  /** The author's line, where it is known. */
  readonly place?: Place
}

/** A transform's result, as JSON can hold it; the caller checks the names and types of fields. */
export type TransformAnswer =
  | { readonly kind: 'one'; readonly action: AnsweredAction }
  | { readonly kind: 'list'; readonly actions: readonly AnsweredAction[] }

/** `null`: skip. `undefined`: as the mapping rendered it. */
export type AnsweredAction = Readonly<Record<string, AnsweredField>> | null | undefined

export type AnsweredField = { readonly value: unknown } | { readonly prompt: readonly Segment[] }

/** Calls one export of one module. @throws TransformError */
export type TransformFunction = (call: TransformCall) => Promise<TransformAnswer>

/** The transforms of one snapshot's mappings. */
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
  /** The transform threw, ended its worker, used too much memory, or returned what no transform may return. */
  | 'TRANSFORM_FAILED'
  /** The transform called `refuse`. */
  | 'TRANSFORM_REFUSED'
  | 'TRANSFORM_TIMEOUT'
  /** More calls wait than can be answered in time; the same request may succeed later. */
  | 'TRANSFORM_BUSY'

/** The reason why a call has no answer. The message begins with the module's name, and is for the log, the API and the console. */
export class TransformError extends Error {
  readonly code: TransformErrorCode
  /** The author's line, found through the source map. */
  readonly place: Place | undefined
  /** The answer for the sender. Present where the code is `TRANSFORM_REFUSED`. */
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

/** A module of a candidate with its bundle. */
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
  /** Loads modules that no worker has loaded yet. Resolves with the modules that failed; without any, all can be called. */
  start(): Promise<readonly LoadFailure[]>
  /** To be called once the snapshot serves no more: workers end with their last call. Late calls are still answered. */
  release(): void
}

export interface TransformHost {
  /** `secrets` are hidden from now on in whatever a module of this host prints or throws. */
  open(modules: readonly OpenedModule[], secrets?: readonly string[]): OpenTransforms
  /** Ends every worker; calls under way fail. */
  close(): Promise<void>
}

/** The events of a host. */
export type TransformEvent =
  /** Something that the module wrote to its console. */
  | {
      readonly type: 'transform-output'
      readonly module: string
      readonly requestId?: string
      readonly level: 'debug' | 'info' | 'warn' | 'error'
      readonly text: string
    }
  /** Lines were dropped because the module printed too much in one window. */
  | { readonly type: 'transform-output-dropped'; readonly module: string; readonly lines: number }
  /** A worker ended by itself. */
  | { readonly type: 'worker-lost'; readonly module: string; readonly reason: string }
  /** A worker did not end within a second of its termination. It keeps its place among the module's workers. */
  | { readonly type: 'worker-abandoned'; readonly module: string }

export type TransformListener = (event: TransformEvent) => void
