/// One invented row of the people API.
enum MadePerson {
    /// Row `number` of the call that drew `draw`: the same number is another person in another call.
    static func row(_ number: Int, draw: UInt64) -> JSONValue {
        let pick = { (purpose: UInt64, count: Int) in
            Int(SplitMix64.value(seed: draw, index: UInt64(number) &* 16 &+ purpose) % UInt64(count))
        }
        let first = firstNames[pick(1, firstNames.count)]
        let last = lastNames[pick(2, lastNames.count)]
        let letters = last.lowercased().filter { $0.isASCII && $0.isLetter }
        // The initial, the last name, and the number of the row before in base 36.
        let mailbox = "\(first.lowercased().prefix(1))\(letters)\(String(number - 1, radix: 36))"
        let text = (0...pick(3, 3)).map { latin[pick(8 + UInt64($0), latin.count)] }.joined()
        return [
            "id": .integer(number), "first_name": .string(first), "last_name": .string(last),
            "email": .string("\(mailbox)@\(domains[pick(4, domains.count)])"),
            "gender": .string(genders[pick(5, genders.count)]),
            "avatar": .string("{origin}/people/avatars/\(text).png?size=50x50&set=set1"),
        ]
    }

    private static let firstNames = [
        "Abel", "Adela", "Alina", "Ansel", "Astrid", "Beatriz", "Benno", "Brita", "Calla", "Cosmo", "Dagny", "Darian",
        "Delphine", "Edda", "Emeric", "Esme",
        "Fabian", "Felka", "Gideon", "Greta", "Hanno", "Helga", "Idris", "Ilse", "Ivo", "Jolanda", "Jorn", "Kasimir",
        "Kirsi", "Lambert", "Leonie", "Lutz",
        "Magda", "Marek", "Nadja", "Niels", "Oda", "Orson", "Pavla", "Piet", "Quirin", "Ragna", "Renke", "Roswitha",
        "Sander", "Signe", "Tamsin", "Tilo",
        "Ulrike", "Urs", "Valda", "Viggo", "Wanda", "Wendel", "Xenia", "Yorick", "Yvette", "Zelda", "Zeno", "émile",
    ]
    private static let lastNames = [
        "Abelard", "Ashdown", "Bellweather", "Brackwater", "Calder", "Cobblepot", "Dahlquist", "De Winter", "Eastlake",
        "Elmhurst", "Fairbrook", "Fennimore",
        "Garland", "Goldthwaite", "Harrowgate", "Hollis", "Inglewood", "Ivers", "Jessop", "Kestrel", "Kingsley",
        "Le Marchant", "Lindqvist", "Longbottom",
        "Marlowe", "Merryweather", "Northcott", "O'Dare", "Oakes", "Pemberley", "Penhallow", "Quillfeather",
        "Ravenscroft", "Rowntree", "Saltmarsh",
        "Stjernfelt", "Thistlewood", "Tremaine", "Underhill", "Van Der Meer", "Vantongeren", "Westergaard",
        "Wintergreen", "Yarrow", "Zieliński",
    ]
    private static let genders = [
        "Female", "Male", "Female", "Male", "Female", "Male", "Non-binary", "Agender", "Genderfluid",
    ]
    private static let domains = ["example.com", "example.net", "example.org", "mail.example.com", "corp.example.org"]
    private static let latin = [
        "ab", "aliquid", "animi", "aut", "dolor", "earum", "et", "facere", "hic", "ipsum", "nemo", "odio", "quas",
        "rerum", "sit", "velit",
    ]
}
