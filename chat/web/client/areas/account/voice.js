// Microphone, loudspeaker and camera of this browser, tried out before anybody hears or sees.

import { close, keepDevices, keptDevices, NoDevice, openCamera, openMicrophone } from "../../base/devices.js";
import { fill, h } from "../../base/dom.js";
import { hindranceWords } from "../../views/names/voice.js";
import { card, toggle } from "../../views/settings/fields.js";
import { t } from "../../words/catalogue.js";

/** @typedef {import("../../views/shell/app.js").App} App */
/** @typedef {"microphone" | "speaker" | "camera"} Device */

/** @type {Readonly<Record<MediaDeviceKind, Device>>} */
const KINDS = { audioinput: "microphone", audiooutput: "speaker", videoinput: "camera" };
const LOOK_MS = 80;
/** A loud voice has a mean of about a quarter of what is possible. */
const LOUD = 0.25;

/** @param {App} app */
export function makeVoiceSettings(app) {
  const { report } = app;
  const controller = new AbortController();
  const selects = { microphone: choice("microphone"), speaker: choice("speaker"), camera: choice("camera") };
  const canPlayElsewhere = "setSinkId" in HTMLMediaElement.prototype;
  const meter = makeMeter();
  const sound = trial("MICROPHONE", meter.element, { start: meter.start, stop: meter.stop });
  const video = h("video", { class: "voice-preview mirrored", autoplay: "", playsinline: "", hidden: "" });
  video.setAttribute("aria-label", t("voice.own_picture"));
  video.muted = true;
  const picture = trial("CAMERA", video, {
    start(stream) {
      video.srcObject = stream;
      video.hidden = false;
    },
    stop() {
      video.srcObject = null;
      video.hidden = true;
    },
  });

  /** @param {Device} device */
  function choice(device) {
    const select = h("select", { class: "select", "aria-label": NAMES[device]() });
    select.addEventListener("change", () => {
      keepDevices({ [device]: select.value });
      sound.again();
      picture.again();
    });
    return select;
  }

  /** Browsers name devices only to pages that were allowed to use one. */
  async function list() {
    const all = (await navigator.mediaDevices?.enumerateDevices()) ?? [];
    for (const [kind, device] of Object.entries(KINDS)) {
      const its = all.filter((one) => one.kind === kind && one.deviceId !== "" && one.deviceId !== "default");
      const options = its.map(({ deviceId, label }) => h("option", { value: deviceId }, label || NAMES[device]()));
      fill(selects[device], h("option", { value: "" }, t("voice.usual_device")), ...options);
      selects[device].value = keptDevices()[device];
      if (selects[device].selectedIndex < 0) selects[device].value = "";
    }
  }

  /**
   * @param {"MICROPHONE" | "CAMERA"} kind
   * @param {HTMLElement} shown
   * @param {{start: (stream: MediaStream) => void, stop: () => void}} parts
   */
  function trial(kind, shown, { start, stop }) {
    const words = kind === "CAMERA" ? () => t("voice.try_camera") : () => t("voice.try_microphone");
    const button = h("button", { type: "button", class: "button", click: press }, words());
    const problem = h("p", { class: "field-error", role: "alert", hidden: "" });
    const element = h("div", { class: "voice-trial" }, button, shown, problem);
    /** @type {MediaStream | null} */
    let stream = null;

    function end() {
      close(stream);
      stream = null;
      stop();
      button.textContent = words();
    }

    async function begin() {
      problem.hidden = true;
      try {
        stream = await (kind === "CAMERA" ? openCamera() : openMicrophone());
        if (controller.signal.aborted) return end();
        button.textContent = t("voice.end_trial");
        start(stream);
        await list();
      } catch (error) {
        if (!(error instanceof NoDevice)) throw error;
        problem.hidden = false;
        problem.textContent = hindranceWords(kind, error.hindrance);
      }
      return undefined;
    }

    function press() {
      if (stream) end();
      else void begin();
    }

    const again = () => stream && (end(), void begin());
    return { element, end, again };
  }

  /** @param {"echo" | "noise" | "gain"} key @param {string} label */
  function option(key, label) {
    const change = (/** @type {boolean} */ wanted) => (keepDevices({ [key]: wanted }), sound.again());
    return toggle({ label, checked: keptDevices()[key], change, report });
  }

  navigator.mediaDevices?.addEventListener("devicechange", () => void list(), { signal: controller.signal });
  void list();
  const element = h(
    "div",
    { class: "settings-cards" },
    card(
      t("voice.microphone"),
      t("voice.microphone_words"),
      selects.microphone,
      sound.element,
      option("echo", t("voice.echo")),
      option("noise", t("voice.noise")),
      option("gain", t("voice.gain")),
    ),
    card(t("voice.by_key"), t("voice.by_key_words"), ...keyFields(report)),
    ...(canPlayElsewhere ? [card(t("voice.speaker"), null, selects.speaker)] : []),
    card(t("voice.camera"), null, selects.camera, picture.element),
  );
  return {
    element,
    stop() {
      controller.abort();
      sound.end();
      picture.end();
    },
  };
}

/** @type {Readonly<Record<Device, () => string>>} */
const NAMES = {
  microphone: () => t("voice.microphone"),
  speaker: () => t("voice.speaker"),
  camera: () => t("voice.camera"),
};

/** Push to talk, and its key. @param {(error: unknown) => void} report */
function keyFields(report) {
  const key = h("button", { type: "button", class: "button" });
  const draw = () => {
    key.textContent = t("voice.key", { key: keptDevices().key.replace(/^(?:Key|Digit)/, "") });
    key.hidden = !keptDevices().byKey;
  };
  key.addEventListener("click", () => {
    key.textContent = t("voice.press_key");
    const taken = (/** @type {KeyboardEvent} */ event) => {
      event.preventDefault();
      event.stopPropagation();
      if (event.code !== "Escape") keepDevices({ key: event.code });
      draw();
    };
    key.addEventListener("keydown", taken, { once: true });
    key.addEventListener("blur", () => (key.removeEventListener("keydown", taken), draw()), { once: true });
  });
  const only = toggle({
    label: t("voice.only_by_key"),
    checked: keptDevices().byKey,
    change: (/** @type {boolean} */ byKey) => (keepDevices({ byKey }), draw()),
    report,
  });
  draw();
  return [only, key];
}

/** How loud the microphone is. */
function makeMeter() {
  const bar = h("span", {});
  const element = h("div", { class: "meter", role: "meter", "aria-label": t("voice.level") }, bar);
  element.ariaValueMin = element.ariaValueNow = "0";
  element.ariaValueMax = "100";
  /** @type {AudioContext | null} */
  let context = null;
  /** @type {ReturnType<typeof setInterval> | undefined} */
  let timer;

  /** @param {number} level */
  function show(level) {
    element.ariaValueNow = `${level}`;
    bar.style.setProperty("--level", `${level}%`);
  }

  return {
    element,
    /** @param {MediaStream} stream */
    start(stream) {
      context = new AudioContext();
      const analyser = context.createAnalyser();
      context.createMediaStreamSource(stream).connect(analyser);
      const samples = new Float32Array(analyser.fftSize);
      timer = setInterval(() => {
        analyser.getFloatTimeDomainData(samples);
        const mean = Math.sqrt(samples.reduce((sum, one) => sum + one * one, 0) / samples.length);
        show(Math.round(Math.min(1, mean / LOUD) * 100));
      }, LOOK_MS);
    },
    stop() {
      clearInterval(timer);
      void context?.close();
      context = null;
      show(0);
    },
  };
}
