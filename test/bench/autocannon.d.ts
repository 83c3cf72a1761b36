/** Declares the part of autocannon that the benchmark uses, because the package ships no types. */
declare module 'autocannon' {
  interface Options {
    readonly url: string
    readonly method: string
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
    readonly connections: number
    /** In seconds. */
    readonly duration: number
  }
  interface Result {
    readonly requests: { readonly total: number }
    /** In seconds. */
    readonly duration: number
    readonly latency: { readonly p99: number }
    readonly non2xx: number
    readonly errors: number
  }
  export default function autocannon(options: Options): Promise<Result>
}
