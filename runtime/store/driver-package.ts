/** Finds the package with the driver of a database, and opens a store on it. */

import { readFileSync } from 'node:fs'
import { createRequire, findPackageJSON } from 'node:module'
import { dirname } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Diagnostic } from '@reveille/engine'
import { asRecord, type Driver, type DriverModule, KIT_VERSION, parseJson } from '@reveille/kit'
import { storeErrorOf } from './driver-error.ts'
import { type Store, StoreError, type StoreOptions } from './port.ts'

/** The value of `gateway.store`, and the configuration file, beside which packages are installed. */
export interface DatabasePlace {
  /** The address of a database. It may hold a password. */
  readonly location: string
  /** Absolute. */
  readonly configFile: string
}

/** True if `gateway.store` names a database, and not the store in the data folder. */
export function isDatabase(store: string): boolean {
  return store !== 'sqlite'
}

const packages: Readonly<Record<string, string>> = {
  postgres: '@reveille/plugin-postgres',
  postgresql: '@reveille/plugin-postgres',
}

/**
 * Returns the module with the driver of a database. Its package is looked for from the folder of the configuration, then from this installation.
 * @throws StoreError `PLUGIN_MISSING` or `PLUGIN_KIT`
 */
export function findDriver({ location, configFile }: DatabasePlace): URL {
  const name = packages[location.split(':', 1)[0] ?? '']
  if (name === undefined) throw new StoreError('PLUGIN_MISSING', 'no package has a driver for this database')
  for (const place of [pathToFileURL(configFile).href, import.meta.url]) {
    const manifest = manifestAt(name, place)
    if (manifest === undefined) continue
    checkKit(name, manifest)
    return pathToFileURL(createRequire(place).resolve(name))
  }
  throw new StoreError('PLUGIN_MISSING', `the package ${name} is not installed`, {
    fix: `Install it: npm install --prefix ${dirname(configFile)} ${name}`,
  })
}

function manifestAt(name: string, place: string): string | undefined {
  try {
    return findPackageJSON(name, place)
  } catch {
    return undefined
  }
}

function checkKit(name: string, manifest: string): void {
  const kitVersion = asRecord(asRecord(parseJson(readFileSync(manifest, 'utf8')))?.['reveille'])?.['kit']
  if (kitVersion === KIT_VERSION) return
  throw new StoreError(
    'PLUGIN_KIT',
    `the package ${name} asks for version ${kitVersion} of the kit; this is ${KIT_VERSION}`,
  )
}

/** @throws StoreError which says why the database cannot be used */
export async function openDriver(place: DatabasePlace): Promise<Driver> {
  const { href } = findDriver(place)
  try {
    const { openDriver: open }: DriverModule = await import(href)
    return await open({ location: place.location })
  } catch (error) {
    throw storeErrorOf(error)
  }
}

/** @throws StoreError which says why the database cannot be used */
export async function openDriverStore(options: StoreOptions & DatabasePlace): Promise<Store> {
  const driver = await openDriver(options)
  // The embedded store, which most gateways have, does without what follows.
  const { openServerStore } = await import('./server.ts')
  try {
    return await openServerStore(driver, options)
  } catch (error) {
    await driver.close()
    throw storeErrorOf(error)
  }
}

/** The problem with `gateway.store`, at its place in the configuration. */
export function storeDiagnostic({ code, message, fix }: StoreError, place: Diagnostic['place']): Diagnostic {
  return {
    severity: 'error',
    code,
    message: `\`gateway.store\`: ${message}`,
    place,
    ...(fix && { hint: fix }),
  }
}
