import { OperatorError } from '../../core/operator_error.ts';
import { assemble } from './cast.ts';
import { findPlace, makePlace } from './place.ts';
import { SCENES } from './scenes.ts';
import { Stage } from './stage.ts';

/** Plays all scenes; the number of claims that did not hold. */
async function playDemo(): Promise<number> {
  const stage = new Stage((line) => console.log(line), process.stdout.isTTY === true);
  const given = await findPlace(process.env);
  if (given === undefined) console.log('Starting a service of its own, on a new database …');
  const place = given ?? (await makePlace());
  try {
    console.log(`Playing against ${place.url}`);
    const cast = assemble(stage, place);
    for (const play of SCENES) await play(cast);
  } finally {
    await place.close();
  }
  const { failures } = stage;
  console.log(failures === 0 ? '\nEvery scene ended as told.' : `\n${failures} claims did not hold.`);
  return failures;
}

try {
  process.exitCode = (await playDemo()) === 0 ? 0 : 1;
} catch (error) {
  if (!(error instanceof OperatorError)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
