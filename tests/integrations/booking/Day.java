import com.google.gson.JsonArray;
import com.google.gson.JsonObject;
import com.sun.net.httpserver.HttpServer;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDate;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;

/**
 * A day of OnlineBooking.java: customers book, confirm, move and cancel over the website, the shop of $SHOP_TOKEN works on the same
 * bookings, webhooks get lost. The copy of the website is compared with what the shop has, and printed.
 */
class Day {
    static final OnlineBooking.Api shop = new OnlineBooking.Api(System.getenv("SHOP_BASE"), System.getenv("SHOP_TOKEN"));
    static final OnlineBooking.Api api = new OnlineBooking.Api(System.getenv("BASE"), System.getenv("TOKEN"));

    public static void main(String[] args) throws Exception {
        var file = Path.of(System.getenv("STATE"));
        var site = new OnlineBooking(api, file);
        HttpServer server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        server.createContext("/", site::receive);
        server.start();
        site.start("http://127.0.0.1:" + server.getAddress().getPort() + "/tradegrid");

        // Two mechanics who inspect bicycles for an hour, from nine to twelve.
        String service = id(shop.call("POST", "/catalog/services", Map.of("name", "Inspection", "price", 6000, "durationMinutes", 60)));
        var hours = List.of(1, 2, 3, 4, 5, 6, 7).stream().map(day -> Map.of("weekday", day, "from", "09:00", "to", "12:00")).toList();
        for (String name : List.of("Ann", "Ben"))
            shop.call("POST", "/scheduling/resources", Map.of("type", "staff", "name", name, "timeZone", "Europe/Berlin", "serviceIds", List.of(service), "workingHours", hours));
        LocalDate day = LocalDate.now().plusDays(3);
        var slots = site.free(service, day, day);
        equal(6, slots.size(), "free times");

        // A customer books and clicks twice, another one wants the same time, and takes the next.
        var first = site.book("B-1", slots.get(0), service, "Ida Berg", "+49 30 901820", "ida@example.com").orElseThrow();
        equal(id(first), id(site.book("B-1", slots.get(0), service, "Ida Berg", "+49 30 901820", "ida@example.com").orElseThrow()), "a second click books nothing");
        equal(false, site.book("B-2", slots.get(0), service, "Jan Ost", "+49 30 901821", "jan@example.com").isPresent(), "the time is taken");
        slots = site.free(service, day, day);
        equal(5, slots.size(), "free times");
        var second = site.book("B-2", slots.get(0), service, "Jan Ost", "+49 30 901821", "jan@example.com").orElseThrow();

        // One confirms, twice. The other one moves while the shop writes a note, and then too late, because the shop has moved it itself.
        equal(List.of(true, true), List.of(site.confirm(id(first)), site.confirm(id(first))), "confirmed");
        Instant taken = Instant.parse(first.get("startAt").getAsString()), later = slots.get(1).startAt();
        shop.call("PATCH", "/scheduling/bookings/" + id(second), Map.of("note", "e-bike"));
        equal(OnlineBooking.Moved.YES, site.move(id(second), later), "moved");
        equal(OnlineBooking.Moved.TAKEN, site.move(id(second), taken), "another one has that time");
        shop.call("POST", "/scheduling/bookings/" + id(second) + "/confirm", null);
        for (Instant end = Instant.now().plusSeconds(60); !status(site, second).equals("confirmed"); Thread.sleep(50)) {
            if (Instant.now().isAfter(end)) throw new AssertionError("no webhook has told that the shop confirmed");
        }
        server.stop(0); // from now on webhooks get lost
        shop.call("PATCH", "/scheduling/bookings/" + id(second), Map.of("startAt", later.minus(Duration.ofHours(1)).toString()));
        equal(OnlineBooking.Moved.CHANGED, site.move(id(second), later.plus(Duration.ofDays(1))), "the shop was faster");
        equal(later.minus(Duration.ofHours(1)), Instant.parse(site.book("B-2", slots.get(0), service, "Jan Ost", "+49 30 901821", "jan@example.com").orElseThrow().get("startAt").getAsString()), "a click later");
        equal("e-bike", site.state.bookings.get(id(second)).get("note").getAsString(), "the note is still there");

        // One cancels, twice; the place is free again. The shop tells that another one did not come, and completes a third.
        equal(List.of(true, true), List.of(site.cancel(id(second), "is ill"), site.cancel(id(second), "is ill")), "cancelled");
        equal(5, site.free(service, day, day).size(), "free times");
        slots = site.free(service, day.plusDays(1), day.plusDays(1));
        var third = site.book("B-3", slots.get(0), service, "Eva Lund", "+49 30 901822", "eva@example.com").orElseThrow();
        shop.call("POST", "/scheduling/bookings/" + id(first) + "/complete", null);
        shop.call("POST", "/scheduling/bookings/" + id(third) + "/no-show", null);
        equal(false, site.cancel(id(first), "too late"), "what is over cannot be cancelled");

        // No webhook has told that, and the process starts again: the incremental read brings what it missed.
        site = new OnlineBooking(api, file);
        equal("pending", status(site, third), "before");
        site.catchUp();
        equal(List.of("completed", "cancelled", "no_show"), List.of(status(site, first), status(site, second), status(site, third)), "the copy");

        JsonArray truth = shop.call("GET", "/scheduling/bookings?sort=createdAt", null).getAsJsonArray("items");
        equal(3, truth.size(), "bookings of the shop");
        for (var booking : truth) equal(booking.getAsJsonObject().get("version"), site.state.bookings.get(id(booking.getAsJsonObject())).get("version"), "version");
        for (var s : shop.call("GET", "/webhooks/subscriptions", null).getAsJsonArray("items")) shop.call("DELETE", "/webhooks/subscriptions/" + id(s.getAsJsonObject()), null);
        System.out.println("booking: bookings " + truth.size() + ", completed 1, cancelled 1, missed 1");
        System.out.println("booking: calls " + api.calls);
    }

    static String id(JsonObject record) {
        return record.get("id").getAsString();
    }

    static String status(OnlineBooking site, JsonObject booking) {
        return site.state.bookings.get(id(booking)).get("status").getAsString();
    }

    static void equal(Object want, Object got, String what) {
        if (!want.equals(got)) throw new AssertionError(what + ": wanted " + want + ", got " + got);
    }
}
