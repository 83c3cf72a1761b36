/** Tests the published packages outside this repository, installed by npm. */

import assert from 'node:assert/strict'
import { runNpm } from '../tools/npm.ts'
import { env, testPackages } from './pack.ts'

const unreachable = new Set([
  'EAI_AGAIN',
  'ECONNREFUSED',
  'ECONNRESET',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTCACHED',
  'ENOTFOUND',
  'ERR_SOCKET_TIMEOUT',
  'ETIMEDOUT',
])

testPackages(async (cwd, packages) => {
  // Optional packages are left out: a whole Node.js, for machines whose own is too old.
  const options = ['--omit=dev', '--omit=optional', '--no-audit', '--no-fund', '--prefer-offline']
  const retryOptions = ['--fetch-retries=0', '--fetch-timeout=10000', '--loglevel=error']
  try {
    await runNpm(['install', ...options, ...retryOptions, ...packages.map(({ file }) => file)], { cwd, env })
  } catch (error) {
    const { stderr } = error as { stderr: string }
    const [, code] = /^npm error code (\S+)/m.exec(stderr) ?? []
    if (code === undefined || !unreachable.has(code)) throw error
    return `npm cannot reach it, nor is it in its cache: ${code}`
  }
  const version = await runNpm(['exec', '--no', '--', 'reveille', '--version'], { cwd, env })
  assert.equal(version, `${packages.find(({ name }) => name === 'reveille')?.version}\n`)
  return undefined
})
