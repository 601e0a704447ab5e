// Passkeys: asks an authenticator, and sends its answer with the form. Nothing else needs it: who has no script signs in by password.
"use strict";
(() => {
  const bytes = (text) => Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) => buffer && btoa(String.fromCharCode(...new Uint8Array(buffer))).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
  const credentials = (list) => list?.map((c) => ({ ...c, id: bytes(c.id) }));
  const asked = (o) => ({
    ...o, challenge: bytes(o.challenge), user: o.user && { ...o.user, id: bytes(o.user.id) },
    excludeCredentials: credentials(o.excludeCredentials) ?? [], allowCredentials: credentials(o.allowCredentials) ?? [],
  });
  const answered = (c) => ({
    id: c.id, rawId: text(c.rawId), type: c.type, authenticatorAttachment: c.authenticatorAttachment ?? undefined, clientExtensionResults: {},
    response: {
      clientDataJSON: text(c.response.clientDataJSON), attestationObject: text(c.response.attestationObject), transports: c.response.getTransports?.(),
      authenticatorData: text(c.response.authenticatorData), signature: text(c.response.signature), userHandle: text(c.response.userHandle) ?? undefined,
    },
  });
  for (const form of document.querySelectorAll("form[data-passkey]")) {
    const { passkey, options } = form.dataset, answer = form.elements.credential, button = form.querySelector("button"), failed = form.querySelector(".note.warn");
    answer.value = "";
    form.addEventListener("submit", async (e) => {
      e.preventDefault();
      button.disabled = true;
      failed.hidden = true;
      try {
        const res = await fetch(options, { method: "POST", body: new URLSearchParams(new FormData(form)) });
        if (res.ok && res.headers.get("Content-Type") === "application/json") {
          answer.value = JSON.stringify(answered(await navigator.credentials[passkey]({ publicKey: asked(await res.json()) })));
        }
        form.submit(); // without an answer, the page says what was refused
      } catch {
        failed.hidden = false;
        button.disabled = false;
      }
    });
  }
})();
