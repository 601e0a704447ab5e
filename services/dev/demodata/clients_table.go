package demodata

// Names are invented: first names of Germany with surnames that nobody has.
//
//nolint:gochecknoglobals // constants
var (
	firstNames = []string{
		"Anna", "Ben", "Clara", "David", "Emma", "Felix", "Greta", "Hannes", "Ida", "Jakob", "Klara", "Leon", "Marie", "Noah", "Olga", "Peter",
		"Rosa", "Simon", "Tilda", "Ulrich", "Vera", "Willi", "Yara", "Zeno",
	}
	surnames = []string{
		"Ashdene", "Birkholt", "Corvane", "Dellmark", "Eastergard", "Fennwick", "Grauberg", "Hollmere", "Isendorn", "Jostrand", "Kaltwasen",
		"Lindmoor", "Marquell", "Nordhave", "Ostrander-Wies", "Pellworth", "Quendt", "Ravenstedt", "Sandhagen", "Tannmark",
	}
	firms = []string{
		"Parcel Pigeon Couriers", "Bakery Morgenlicht", "Hotel Speichenhof", "City Tours on Wheels", "Architects Ostflügel", "Green Street Delivery",
		"Co-working Kontor 9", "Day Nursery Sonnenrad", "Physio am Kanal", "Print Shop Letterpress",
	}
	streets = []string{"Lindenweg", "Kanalstraße", "Am Speicher", "Gartenring", "Mühlgasse", "Uferpromenade", "Schulstraße", "Am Rondell"}
	// Numbers that German networks keep free for films and books.
	phoneRanges = []string{"+49 30 23125 %03d", "+49 40 66969 %03d", "+49 221 4710 %03d", "+49 89 99998 %03d", "+49 69 90009 %03d"}
)

//nolint:gochecknoglobals // constants
var talkTable = []struct{ kind, direction, subject, body string }{
	{"call", "in", "Noise from the bottom bracket", "Creaks under load. Offered a safety check next week."},
	{"email", "out", "Your bicycle is ready", "Full service is done; the chain was worn and was replaced."},
	{"meeting", "in", "Test ride of the Volta City", "Liked size M. Wants to think about the battery."},
	{"message", "in", "Winter tyres", "Asked for studded tyres in 28 inches."},
	{"call", "out", "Reminder of the service", "Will come by after the holidays."},
}
