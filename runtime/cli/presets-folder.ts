/** Owns nothing: the presets' folder as commands import it. */

export { presetsFolder } from '../presets-folder.ts'
