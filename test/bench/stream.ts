/** Measures what operators who watch cost the requests: clients of the stream, and a console in a browser. */

import { get } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import { chromium } from 'playwright-core'
import { browserArguments, findBrowser } from '../../tools/browser.ts'
import { fire, type Shot } from './client.ts'
import { startCpuCount } from './kernel.ts'
import type { Bed, Comparison, Sample } from './measure.ts'
import { cpuFigures, wake } from './requests.ts'
import { gatewayToken, hookToken, startGateway } from './server.ts'

const clients = 20
const pace = 1000
const seconds = 5
const connections = 32

const unwatched = 'unwatched'
const streamed = `${clients} clients of the stream`
const withConsole = `${streamed} and the console`

/** Ends what watches. */
type Watch = () => Promise<void>

export function streamComparison(): Comparison {
  const browser = findBrowser()
  return {
    name: `/wake at ${pace} a second, watched by operators (stream)`,
    compared: 'cpu',
    variants: [unwatched, streamed, ...(browser === undefined ? [] : [withConsole])],
    openSeconds: 10,
    sampleSeconds: seconds + 3,
    open: () => open(browser),
  }
}

async function open(browser: string | undefined): Promise<Bed> {
  const server = await startGateway()
  const shot: Shot = {
    url: `${server.url}/hooks/wake`,
    headers: { 'content-type': 'application/json', authorization: `Bearer ${hookToken}` },
    bodies: [wake],
  }
  await fire(shot, { connections, requests: 8000 })
  return {
    async take(variant): Promise<Sample> {
      const watches: Watch[] = []
      try {
        if (variant !== unwatched)
          for (let count = 0; count < clients; count += 1) watches.push(await openStream(server.url))
        if (variant === withConsole) watches.push(await openConsole(server.url, browser))
        // The watchers are served before the requests are counted.
        await fire(shot, { connections, seconds: 1, pace })
        const spent = startCpuCount(server.pid)
        const { requests, ...result } = await fire(shot, { connections, seconds, pace })
        return { ...result, ...cpuFigures(spent(), requests) }
      } finally {
        for (const end of watches) await end()
        await pause(200)
      }
    },
    close: () => server.stop(),
  }
}

/** Reads what comes, and looks at nothing. */
function openStream(url: string): Promise<Watch> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${gatewayToken}` }
    const request = get(`${url}/api/stream`, { headers, agent: false }, (response) => {
      response.resume()
      response.on('error', () => {})
      if (response.statusCode === 200) resolve(async () => void request.destroy())
      else reject(new Error(`${url}/api/stream answered ${response.statusCode}`))
    })
    request.on('error', reject)
  })
}

async function openConsole(url: string, executablePath: string | undefined): Promise<Watch> {
  const browser = await chromium.launch({
    ...(executablePath && { executablePath }),
    args: browserArguments(),
  })
  const page = await browser.newPage()
  await page.goto(`${url}/console/`)
  await page.getByLabel('Gateway token').fill(gatewayToken)
  await page.keyboard.press('Enter')
  await page.getByRole('navigation').first().waitFor()
  return () => browser.close()
}
