"""A headless Chromium driven over the DevTools protocol, through a pipe, with the standard library alone."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")


def find_chromium():
    """Path of the program, None without one. TDC_CHROMIUM names another."""
    return shutil.which(os.environ.get("TDC_CHROMIUM", "")) or next(filter(None, map(shutil.which, NAMES)), None)


class Browser:
    """One browser with one page. Gathers what the console says and what is requested."""

    def __init__(self, width=1280, height=900):
        self.folder = tempfile.mkdtemp(prefix="tdc_browser_")
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def pass_pipes():
            os.dup2(to_browser, 103)
            os.dup2(from_browser, 104)
            os.dup2(103, 3)
            os.dup2(104, 4)

        options = ["--headless=new", "--remote-debugging-pipe", "--no-first-run", "--disable-gpu", "--hide-scrollbars",
                   "--disable-extensions", "--disable-background-networking", "--disable-component-update",
                   "--disable-sync", "--force-color-profile=srgb", "--disable-dev-shm-usage",
                   "--user-data-dir=" + self.folder]
        if os.geteuid() == 0:
            options.append("--no-sandbox")
        self.process = subprocess.Popen([find_chromium(), *options], preexec_fn=pass_pipes, close_fds=False,
                                        stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_browser)
        os.close(from_browser)
        self.number, self.buffer, self.events, self.session = 0, b"", [], None
        self.console, self.requests = [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(domain + ".enable")
        self.resize(width, height)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        try:
            self.call("Browser.close", browser=True)
        except (OSError, RuntimeError):
            pass
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    # ---- the protocol

    def receive(self, until):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.read_end], [], [], max(0, until - time.monotonic()))
            if not ready:
                raise RuntimeError("the browser does not answer")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise RuntimeError("the browser has ended")
            self.buffer += data
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def note(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
            self.console.append(" ".join(str(one.get("value", one.get("description", ""))) for one in params["args"]))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.console.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
            self.console.append(params["entry"]["text"])
        elif method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        self.events.append(method)

    def call(self, method, seconds=120, browser=False, **params):
        self.number += 1
        number, message = self.number, {"id": self.number, "method": method, "params": params}
        if self.session is not None and not browser:
            message["sessionId"] = self.session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        until = time.monotonic() + seconds
        while True:
            answer = self.receive(until)
            if answer.get("id") == number:
                if "error" in answer:
                    raise RuntimeError(method + ": " + answer["error"]["message"])
                return answer["result"]
            self.note(answer)

    # ---- the page

    def resize(self, width, height, scale=1, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=scale,
                  mobile=mobile)

    def media(self, scheme="light", medium=""):
        self.call("Emulation.setEmulatedMedia", media=medium,
                  features=[{"name": "prefers-color-scheme", "value": scheme}])

    def open(self, path, address=""):
        """Loads a file; address: what stands behind '#'."""
        self.call("Page.navigate", url="about:blank")
        self.console.clear()
        self.requests.clear()
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + ("#" + address if address else ""))

    def run(self, expression):
        """The value of an expression in the page; promises are waited for."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(answer["exceptionDetails"].get("exception", {}).get("description", expression))
        return answer["result"].get("value")

    def wait(self, condition, seconds=60):
        """Until an expression is true; returns its value."""
        until = time.monotonic() + seconds
        while True:
            value = self.run(condition)
            if value:
                return value
            if time.monotonic() > until:
                raise RuntimeError("never came true: " + condition)
            time.sleep(0.02)

    def ready(self, word="", seconds=60):
        """Until the page can be used; "all": until every column is there."""
        return self.wait("document.documentElement && (document.documentElement.dataset.ready || '').includes('%s')"
                         " && document.documentElement.dataset.ready" % word, seconds)

    def key(self, key, text=None):
        code = {"text": text if text is not None else key} if len(key) == 1 else {}
        self.call("Input.dispatchKeyEvent", type="keyDown", key=key, **code)
        self.call("Input.dispatchKeyEvent", type="keyUp", key=key)

    def type(self, text):
        self.call("Input.insertText", text=text)

    def click(self, selector):
        """A real click in the middle of an element."""
        box = self.run("(() => { const e = document.querySelector(%s); e.scrollIntoView({block: 'center'});"
                       " const b = e.getBoundingClientRect(); return [b.x + b.width / 2, b.y + b.height / 2]; })()"
                       % json.dumps(selector))
        self.click_at(*box)

    def click_at(self, x, y):
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def screenshot(self, path, whole=False):
        data = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))

    def pdf(self, path):
        data = self.call("Page.printToPDF", printBackground=True)["data"]
        with open(path, "wb") as file:
            file.write(base64.b64decode(data))
