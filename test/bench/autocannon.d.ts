/** The part of autocannon's interface that the benchmark uses; the package ships no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly connections: number
    /** Seconds. */
    readonly duration: number
  }
  interface Result {
    readonly requests: { readonly total: number }
    /** Seconds. */
    readonly duration: number
    readonly latency: { readonly p99: number }
    readonly non2xx: number
    readonly errors: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
