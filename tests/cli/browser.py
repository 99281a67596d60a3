"""A page in Debian's headless Chromium, for tests of what the program shows in a browser."""

import time

from selenium import webdriver
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.by import By

CHROMIUM, DRIVER = "/usr/bin/chromium", "/usr/bin/chromedriver"
FLAGS = (
    "--headless=new --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync --window-size=1280,900"
).split()


class BrowserPage:
    def __init__(self, driver):
        self.driver = driver

    def script(self, text, *arguments):
        return self.driver.execute_script(text, *arguments)

    def wait(self, text, *arguments, seconds=15):
        """Waits until a script gives a value that is true, and returns it."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            value = self.script(f"return {text}", *arguments)
            if value:
                return value
            time.sleep(0.02)
        raise AssertionError(f"waited {seconds} seconds for {text}\n{self.text()}")

    def text(self, selector="body"):
        return self.driver.find_element(By.CSS_SELECTOR, selector).text

    def press(self, *keys):
        ActionChains(self.driver, duration=0).send_keys(*keys).perform()

    def size(self, width, height):
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def scheme(self, name):
        features = [{"name": "prefers-color-scheme", "value": name}]
        self.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})

    def errors(self, *expected):
        """What the browser's console complains about, but for messages that hold one of the expected texts."""
        messages = [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] != "INFO"]
        return [message for message in messages if not any(text in message for text in expected)]


def start_chromium(profile, downloads=None):
    """The browser, with a folder for its profile and one for what pages save."""
    options = webdriver.ChromeOptions()
    options.binary_location = CHROMIUM
    for flag in [*FLAGS, f"--user-data-dir={profile}"]:
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    if downloads is not None:
        options.add_experimental_option("prefs", {"download.default_directory": str(downloads)})
    driver = webdriver.Chrome(options=options, service=Service(DRIVER))
    driver.set_page_load_timeout(30)
    driver.set_script_timeout(30)
    return driver
