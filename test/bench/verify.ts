/** Measures verifying a signature on one gateway, with one endpoint that takes the token and one that verifies. */

import { signedByGitHub } from '../signed.ts'
import type { Burst, Client, Shot } from './client.ts'
import { hookToken, signingSecret, startGateway } from './server.ts'

export interface Verifying {
  /** Requests per second, as the median of the rounds. */
  readonly token: number
  readonly signature: number
  /** The share of the throughput that verification takes, as the median of the rounds: 0.1 is a tenth. */
  readonly cost: number
  readonly costs: readonly number[]
}

/** The two endpoints take turns, so that a noisy minute affects both. */
export async function measureVerify(
  body: string,
  {
    client,
    burst,
    rounds,
    progress,
  }: { client: Client; burst: Burst; rounds: number; progress(text: string): void },
): Promise<Verifying> {
  const server = await startGateway({ logLevel: 'warn' })
  try {
    const token = shotAt(server.url, '/hooks/github', body, { authorization: `Bearer ${hookToken}` })
    const signature = shotAt(server.url, '/hooks/signed', body, signedByGitHub(body, signingSecret))
    for (const shot of [token, signature]) await fire(client, shot, { ...burst, seconds: 1 })
    const pairs: { token: number; signature: number }[] = []
    for (let round = 0; round < rounds; round++) {
      progress(`verify: round ${round + 1} of ${rounds}`)
      const order = round % 2 === 0 ? [token, signature] : [signature, token]
      const measured = new Map<Shot, number>()
      for (const shot of order) measured.set(shot, await fire(client, shot, burst))
      pairs.push({ token: measured.get(token) ?? 0, signature: measured.get(signature) ?? 0 })
    }
    const costs = pairs.map((pair) => 1 - pair.signature / pair.token)
    return {
      token: median(pairs.map((pair) => pair.token)),
      signature: median(pairs.map((pair) => pair.signature)),
      cost: median(costs),
      costs,
    }
  } finally {
    await server.stop()
  }
}

function shotAt(url: string, path: string, body: string, headers: Record<string, string>): Shot {
  return {
    url: url + path,
    headers: { 'content-type': 'application/json', 'x-github-event': 'pull_request', ...headers },
    body,
  }
}

async function fire(client: Client, shot: Shot, burst: Burst): Promise<number> {
  const result = await client(shot, burst)
  if (result.failed > 0) throw new Error(`${result.failed} of the answers were not 2xx`)
  return result.perSecond
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0
}
