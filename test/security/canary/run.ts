/** Sends canaries to every outcome of a request, and searches everything that the gateway says or writes for them. */

import assert from 'node:assert/strict'
import { join } from 'node:path'
import type { TestContext } from 'node:test'
import { renderErrorTable } from '../../../runtime/http/index.ts'
import { createPrettyStream } from '../../../runtime/observe/pretty.ts'
import {
  bodies,
  type Canaries,
  configured,
  credentials,
  echoed,
  found,
  heads,
  ids,
  literal,
} from './canaries.ts'
import { installCanaries, untilQuiet } from './installation.ts'
import { readApi, readCommands, readDisk, readStart } from './outputs.ts'
import { placesIn, tellingFields } from './places.ts'
import { codeIn, sendAll } from './requests.ts'

const known: Canaries = { ...configured, ...echoed }
const secrets: Canaries = { ...known, ...credentials, ...heads }
const everything: Canaries = { ...secrets, ...bodies, ...ids }

/** Codes that no request can cause by its content. */
const outOfReach = new Set([
  ...'TRANSFORM_TIMEOUT TRANSFORM_BUSY ENGINE_FAILED INTERNAL REQUEST_TIMEOUT BACKLOG DRAINING STORE_FULL'.split(
    ' ',
  ),
  ...'STORE_UNAVAILABLE VERIFIER_UNAVAILABLE HANDSHAKE_UNAVAILABLE'.split(' '),
  // It takes a hundred streams.
  'TOO_MANY_STREAMS',
])

/** `isThorough` runs every command in both its forms. */
export async function holdCanaries(t: TestContext, isThorough: boolean): Promise<void> {
  const installed = await installCanaries(t)
  const { gateway, folder } = installed
  const address = await gateway.listen()
  const sent = await sendAll(address, gateway.tunnelAddress() ?? '')
  await untilQuiet(installed)
  const api = await readApi(address)
  const commands = await readCommands(t, installed, address, isThorough)
  await gateway.close()
  const start = await readStart(t, installed)
  const disk = await readDisk(join(folder, 'data'))

  await t.test('the requests caused every error code', () => {
    const codes = new Set([...sent.map(({ code }) => code), ...api.map(({ text }) => codeIn(text))])
    const known = Array.from(renderErrorTable().matchAll(/^\| `(\w+)`/gm), ([, code = '']) => code)
    const missed = known.filter((code) => !codes.has(code))
    assert.deepEqual(new Set(missed), outOfReach, 'every code but those that are out of reach')
    for (const outcome of ['ignored', 'skipped', 'duplicate']) assert.ok(codes.has(outcome), outcome)
  })
  await t.test(
    'answers to senders show no secret, and of bodies only the names of fields without effect',
    () => {
      const { key: _, ...withoutKey } = everything
      for (const { name, text } of sent) {
        const isWarned = text.includes('is not a field of')
        assert.deepEqual(found(text, isWarned ? withoutKey : everything), [], `${name}: ${text}`)
      }
    },
  )
  await t.test('the log shows no secret and no body, as JSON and as readable lines', () => {
    let pretty = ''
    const stream = createPrettyStream({ write: (text: string) => (pretty += text) }, { colour: false })
    const given: string[] = []
    const lines = installed.log().split('\n').slice(0, -1).map(withoutGiven)
    for (const line of lines) stream.write(line)
    for (const line of [...lines, ...pretty.split('\n')]) assert.deepEqual(found(line, everything), [], line)
    assert.deepEqual(given.toSorted(), ['cancelRun', 'replayDelivery', 'replayRequest'])

    /** An operator's own action is on record with the id that was given in its address, and the test gives a canary as one. */
    function withoutGiven(line: string): string {
      const { id, ...others } = JSON.parse(line) as { id?: unknown; event: string; action: string }
      if (others.event !== 'admin-action' || id !== heads['query-note']) return line
      given.push(others.action)
      return JSON.stringify(others)
    }
    assert.ok(lines.length > sent.length, 'the log was read')
  })
  await t.test(
    'the admin API and commands show parts of a body only in the fields where a mapping put them',
    () => {
      const { hidden, key, malformed } = bodies
      const places = new Set<string>()
      const leaks: string[] = []
      for (const output of [...api, ...commands, start]) {
        const isItsReaders = /^(POST \/api\/try$|(try|explain) (plain|picky|transformed) )/.test(output.from)
        // The user of try or explain supplies the request, so they may see all of it but values whose name marks a
        // secret. A stored request shows its headers and query, in its own record alone; what is made of whole bodies shows
        // their fields, and a body itself is shown whole.
        const isBody = /\/body$/.test(output.from)
        const isOfBodies = isBody || /\/(as-test|paths)$/.test(output.from)
        const isRecord = /^((GET|POST) \/api\/requests\/|(requests|explain|try) )[0-9a-f]{8}-/.test(
          output.from,
        )
        const shown =
          isRecord || isOfBodies ? { ...known, ...credentials, signature: heads.signature } : secrets
        // A dry run names fields without effect, as the answer to the sender does.
        const showsKey = isOfBodies || (isRecord && output.text.includes('is not a field of'))
        const ofBody = {
          ...(!isBody && { hidden }),
          ...(!isOfBodies && { malformed }),
          ...(!showsKey && { key }),
        }
        const absent: Canaries = isItsReaders ? { ...secrets, hidden } : { ...shown, ...ofBody }
        const leaked = found(output.text, absent)
        if (leaked.length > 0) leaks.push(`${leaked} in ${output.from}: ${output.text}`)
        if (!isItsReaders) for (const place of placesIn(output, { ...bodies, ...ids })) places.add(place)
      }
      assert.deepEqual(leaks, [])
      assert.deepEqual([...places].toSorted(), tellingFields.toSorted())
    },
  )
  await t.test('on disk bodies are only in the store, and no file is readable for others', () => {
    const archived = literal.map((name) => configured[name])
    for (const { file, bytes, open } of disk) {
      assert.deepEqual(found(file, everything), [], file)
      assert.equal(open, false, `${file} is for its owner alone`)
      // The archive stores the files of a configuration unchanged, for a rollback.
      const isArchive = /^generations.\d+\.json$/.test(file)
      const known = archived.reduce((text, value) => text.replaceAll(value, ''), bytes)
      assert.deepEqual(found(isArchive ? known : bytes, { ...configured, ...credentials }), [], file)
      if (!file.startsWith('reveille.db'))
        assert.deepEqual(found(bytes, { ...heads, ...bodies, ...ids, ...echoed }), [], file)
    }
    assert.ok(
      disk.some(({ bytes }) => found(bytes, bodies).length > 0),
      'what is kept was read',
    )
  })
}
