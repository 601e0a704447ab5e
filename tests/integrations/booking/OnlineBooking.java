import static java.nio.charset.StandardCharsets.UTF_8;

import com.google.gson.Gson;
import com.google.gson.JsonElement;
import com.google.gson.JsonObject;
import com.google.gson.JsonSyntaxException;
import com.sun.net.httpserver.HttpExchange;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.GeneralSecurityException;
import java.security.MessageDigest;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/**
 * Lets customers book over a website: free times, booking, confirmation, another time, cancellation. The website keeps a copy of its
 * bookings, which webhooks keep up to date, and an incremental read where one got lost. Java 17 or newer, and Gson.
 */
class OnlineBooking {
    static final String SOURCE = "website"; // of external ids
    static final Gson GSON = new Gson();

    /** A refusal, as docs/reference/errors.md describes it. */
    static class ApiException extends IOException {
        final int status;
        final String code;
        final JsonObject meta;

        ApiException(int status, JsonObject body) {
            super(status + " " + body.get("code").getAsString() + ": " + body.get("message") + " (request " + body.get("requestId") + ")");
            this.status = status;
            this.code = body.get("code").getAsString();
            this.meta = body.has("meta") ? body.getAsJsonObject("meta") : new JsonObject();
        }

        /** Whether the same request may succeed later. */
        boolean passes() {
            return Set.of(408, 429, 500, 502, 503, 504).contains(status) && !code.equals("QUERY_TOO_EXPENSIVE") || code.equals("IDEMPOTENCY_IN_FLIGHT");
        }
    }

    /** Calls the API: every change under an idempotency key, again after what may pass. */
    static class Api {
        static final int TRIES = 8;
        final HttpClient http = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).connectTimeout(Duration.ofSeconds(5)).build();
        final AtomicInteger calls = new AtomicInteger();
        final String base, token;

        Api(String base, String token) {
            this.base = base;
            this.token = token;
        }

        JsonObject call(String method, String path, Object body) throws IOException, InterruptedException {
            return call(method, path, body, null).body;
        }

        record Answer(JsonObject body, String watermark) {}

        Answer call(String method, String path, Object body, String ifMatch) throws IOException, InterruptedException {
            var request = HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(35)).header("Authorization", "Bearer " + token);
            if (body != null) request.header("Content-Type", "application/json");
            if (ifMatch != null) request.header("If-Match", ifMatch);
            if (!method.equals("GET")) request.header("X-Idempotency-Key", UUID.randomUUID().toString()); // one for all tries
            request.method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(GSON.toJson(body)));
            calls.incrementAndGet();
            for (int attempt = 1; ; attempt++) {
                long pause = (long) (Math.min(100L << attempt, 10_000) * ThreadLocalRandom.current().nextDouble(0.5, 1));
                try {
                    HttpResponse<String> res = http.send(request.build(), BodyHandlers.ofString());
                    if (res.statusCode() < 300) return new Answer(GSON.fromJson(res.body(), JsonObject.class), res.headers().firstValue("X-Sync-Watermark").orElse(null));
                    var refusal = new ApiException(res.statusCode(), GSON.fromJson(res.body(), JsonObject.class));
                    if (!refusal.passes() || attempt == TRIES) throw refusal;
                    pause = res.headers().firstValue("Retry-After").map(s -> Long.parseLong(s) * 1000).orElse(pause);
                } catch (ApiException e) {
                    throw e;
                } catch (IOException | JsonSyntaxException e) { // no answer, a part of one, or one of something in between
                    if (attempt == TRIES) throw e;
                }
                Thread.sleep(pause);
            }
        }
    }

    /** What has to outlive the process; with many bookings, take a database. */
    static class State {
        String secret;
        String since = "2000-01-01T00:00:00Z"; // before the first record
        Map<String, JsonObject> bookings = new ConcurrentHashMap<>();
    }

    final Api api;
    final Path file;
    final State state;

    OnlineBooking(Api api, Path file) throws IOException {
        this.api = api;
        this.file = file;
        this.state = Files.exists(file) ? GSON.fromJson(Files.readString(file), State.class) : new State();
    }

    synchronized void save() throws IOException {
        Path next = Path.of(file + ".new");
        Files.writeString(next, GSON.toJson(state));
        Files.move(next, file, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    /** A time that can be booked. */
    record Slot(String resourceId, Instant startAt) {}

    /** The free times for a service, of everybody who provides it. */
    List<Slot> free(String serviceId, LocalDate from, LocalDate to) throws IOException, InterruptedException {
        var found = new ArrayList<Slot>();
        var answer = api.call("GET", "/scheduling/availability?serviceId=" + serviceId + "&dateFrom=" + from + "&dateTo=" + to, null);
        for (var resource : answer.getAsJsonArray("resources"))
            for (var day : resource.getAsJsonObject().getAsJsonArray("days"))
                for (var slot : day.getAsJsonObject().getAsJsonArray("slots")) found.add(GSON.fromJson(slot, SlotJson.class).slot());
        return found;
    }

    record SlotJson(String resourceId, String startAt) {
        Slot slot() {
            return new Slot(resourceId, Instant.parse(startAt));
        }
    }

    /**
     * Books a time under an id of the website, which was made with the page, so that a second click books nothing. Empty if somebody
     * was faster, or the time has passed meanwhile: show what is free now.
     */
    Optional<JsonObject> book(String id, Slot slot, String serviceId, String name, String phone, String email) throws IOException, InterruptedException {
        var body = Map.of(
                "source", SOURCE, "externalId", id, "resourceId", slot.resourceId, "serviceId", serviceId, "startAt", slot.startAt.toString(),
                "customerName", name, "customerPhone", phone, "customerEmail", email);
        try {
            return Optional.of(keep(api.call("POST", "/scheduling/bookings", body)));
        } catch (ApiException e) { // the first click, if this is another one; an upsert would undo what the shop has changed since
            if (e.code.equals("BOOKING_EXTERNAL_ID_TAKEN")) return Optional.of(keep(api.call("GET", "/scheduling/bookings/" + e.meta.get("id").getAsString(), null)));
            if (Set.of("BOOKING_SLOT_TAKEN", "BOOKING_IN_PAST", "BOOKING_OUTSIDE_WORKING_HOURS", "RESOURCE_INACTIVE").contains(e.code)) return Optional.empty();
            throw e;
        }
    }

    /** The customer confirms, perhaps twice: false if the booking is over. */
    boolean confirm(String id) throws IOException, InterruptedException {
        return moveTo(id, "confirm", "confirmed", Map.of());
    }

    /** The customer cancels, perhaps twice: false if the time is over. */
    boolean cancel(String id, String reason) throws IOException, InterruptedException {
        return moveTo(id, "cancel", "cancelled", Map.of("reason", reason));
    }

    private boolean moveTo(String id, String command, String status, Object body) throws IOException, InterruptedException {
        try {
            keep(api.call("POST", "/scheduling/bookings/" + id + "/" + command, body));
            return true;
        } catch (ApiException e) {
            if (e.code.equals("BOOKING_STATUS_TRANSITION_INVALID")) return e.meta.get("from").getAsString().equals(status);
            throw e;
        }
    }

    enum Moved { YES, TAKEN, CHANGED }

    /** Moves a booking to another time, if it is still the one that the customer saw. CHANGED: show them what it is now. */
    Moved move(String id, Instant startAt) throws IOException, InterruptedException {
        var seen = state.bookings.get(id);
        for (var now = seen; ; now = keep(api.call("GET", "/scheduling/bookings/" + id, null))) {
            if (!now.get("startAt").equals(seen.get("startAt")) || !Set.of("pending", "confirmed").contains(now.get("status").getAsString())) return Moved.CHANGED;
            try {
                keep(api.call("PATCH", "/scheduling/bookings/" + id, Map.of("startAt", startAt.toString()), "\"" + now.get("version") + "\"").body);
                return Moved.YES;
            } catch (ApiException e) {
                if (Set.of("BOOKING_SLOT_TAKEN", "BOOKING_IN_PAST", "BOOKING_OUTSIDE_WORKING_HOURS").contains(e.code)) return Moved.TAKEN;
                if (!e.code.equals("PRECONDITION_FAILED")) throw e; // otherwise somebody has changed it: look what
            }
        }
    }

    /** Keeps a booking unless a later version is known. */
    JsonObject keep(JsonObject booking) throws IOException {
        state.bookings.merge(booking.get("id").getAsString(), booking, (known, told) -> told.get("version").getAsLong() >= known.get("version").getAsLong() ? told : known);
        save();
        return booking;
    }

    /** Subscribes, once, and reads what has changed since the last time. */
    void start(String url) throws IOException, InterruptedException {
        if (state.secret == null) {
            var subscription = api.call("POST", "/webhooks/subscriptions", Map.of("url", url, "events", List.of("booking.*"), "name", SOURCE));
            state.secret = subscription.get("secret").getAsString();
            save();
        }
        catchUp();
    }

    /** Reads what no webhook has brought: run it every few minutes. */
    void catchUp() throws IOException, InterruptedException {
        String path = "/scheduling/bookings?pageSize=200&updatedSince=" + URLEncoder.encode(state.since, UTF_8);
        for (String cursor = ""; ; ) {
            var page = api.call("GET", path + cursor, null, null);
            for (JsonElement booking : page.body.getAsJsonArray("items")) keep(booking.getAsJsonObject());
            if (page.body.get("nextCursor").isJsonNull()) {
                state.since = page.watermark;
                save();
                return;
            }
            cursor = "&cursor=" + page.body.get("nextCursor").getAsString();
        }
    }

    /** Receives a webhook: a booking that the copy does not have yet, or another version of it. */
    void receive(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] body = exchange.getRequestBody().readAllBytes();
            if (state.secret == null || !signed(state.secret, exchange.getRequestHeaders()::getFirst, body)) {
                exchange.sendResponseHeaders(401, -1);
                return;
            }
            var event = GSON.fromJson(new String(body, UTF_8), JsonObject.class);
            // What comes twice, or late, changes nothing, because its version is known. A webhook that did more would remember event ids.
            if (event.get("event").getAsString().startsWith("booking.")) keep(event.getAsJsonObject("data"));
            exchange.sendResponseHeaders(204, -1);
        } catch (GeneralSecurityException | JsonSyntaxException e) {
            throw new IOException(e); // the connection is closed, and the webhook comes again
        }
    }

    /** Whether a webhook is the platform's; see docs/verify.md. */
    static boolean signed(String secret, UnaryOperator<String> header, byte[] body) throws GeneralSecurityException {
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(secret.getBytes(UTF_8), "HmacSHA256"));
        byte[] want = ("sha256=" + HexFormat.of().formatHex(mac.doFinal(body))).getBytes(UTF_8);
        boolean found = false;
        for (String name : List.of("X-Svc-Signature", "X-Svc-Signature-Previous")) {
            String got = header.apply(name);
            found |= got != null && MessageDigest.isEqual(want, got.getBytes(UTF_8));
        }
        return found;
    }
}
