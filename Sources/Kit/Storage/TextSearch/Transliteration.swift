/// Spellings of a word in the other alphabet, Russian and English.
///
/// A letter has several, and an English word may be written as it sounds (`айфон`, iphone). All of them are tried, the
/// usual ones first.
enum Transliteration {
    /// The most spellings of a word.
    static let most = 64
    /// The most letters of a word that is spelled otherwise.
    static let longest = 24

    /// Returns spellings of a folded word, the most usual first; none of a word of another script.
    static func spellings(of word: String) -> [String] {
        guard word.unicodeScalars.count <= longest, let script = WordScript(word) else { return [] }
        let letters = word.unicodeScalars.map(String.init)
        let table = script == .cyrillic ? toLatin : toCyrillic
        // The spellings of each beginning of the word, with the number of unusual choices in them.
        var found: [[(text: String, cost: Int)]] = [[("", 0)]]
        for end in 1...letters.count {
            var spellings: [(text: String, cost: Int)] = []
            for length in 1...min(longestGroup, end) {
                guard let choices = table[letters[(end - length)..<end].joined()] else { continue }
                for before in found[end - length] {
                    for (cost, choice) in choices.enumerated() {
                        // A letter on its own that is part of a group is less usual than the group.
                        spellings.append((before.text + choice, before.cost + cost + (length == 1 ? 1 : 0)))
                    }
                }
            }
            found.append(cheapest(spellings))
        }
        return found[letters.count].map(\.text).filter { !$0.isEmpty }
    }

    private static func cheapest(_ spellings: [(text: String, cost: Int)]) -> [(text: String, cost: Int)] {
        var seen: Set<String> = []
        let sorted = spellings.enumerated().sorted { ($0.element.cost, $0.offset) < ($1.element.cost, $1.offset) }
        return Array(sorted.map(\.element).filter { seen.insert($0.text).inserted }.prefix(most))
    }

    private static let longestGroup = 4

    private static let toLatin: [String: [String]] = [
        "а": ["a"], "б": ["b"], "в": ["v", "w"], "г": ["g", "h"], "д": ["d"], "е": ["e", "ye", "yo"],
        "ж": ["zh", "j", "g"], "з": ["z", "s"], "и": ["i", "y", "ee", "e"], "й": ["y", "i", "j"],
        "к": ["k", "c", "ck", "q"], "л": ["l", "ll"], "м": ["m"], "н": ["n"], "о": ["o"], "п": ["p"], "р": ["r"],
        "с": ["s", "c"], "т": ["t"], "у": ["u", "oo", "w"], "ф": ["f", "ph"], "х": ["kh", "h", "x"],
        "ц": ["ts", "c"], "ч": ["ch"], "ш": ["sh"], "щ": ["shch", "sch"], "ъ": [""], "ы": ["y"], "ь": [""],
        "э": ["e", "a"], "ю": ["yu", "u", "ju"], "я": ["ya", "ia", "ja"],
        "ай": ["ay", "i", "ai"], "ей": ["ey", "ay", "ei", "a"], "кс": ["ks", "x"], "дж": ["j", "dzh", "g"],
        "ий": ["y", "iy"], "ья": ["ya", "ia"], "уа": ["wa"], "уо": ["wo"], "уи": ["wi"], "лл": ["ll"],
    ]

    private static let toCyrillic: [String: [String]] = [
        "a": ["а", "я", "э"], "b": ["б"], "c": ["к", "ц", "с"], "d": ["д"], "e": ["е", "э", ""], "f": ["ф"],
        "g": ["г", "ж"], "h": ["х"], "i": ["и", "й", "ы", "ай"], "j": ["й", "ж", "дж"], "k": ["к"],
        "l": ["л", "ль"], "m": ["м"], "n": ["н", "нь"], "o": ["о"], "p": ["п"], "q": ["к"], "r": ["р"],
        "s": ["с"], "t": ["т", "ть"], "u": ["у", "ю"], "v": ["в"], "w": ["в", "у"], "x": ["кс", "х"],
        "y": ["ы", "й", "и", "ий"], "z": ["з", "ц"],
        "shch": ["щ"], "sch": ["щ", "ш"], "sh": ["ш"], "zh": ["ж"], "kh": ["х"], "ts": ["ц"], "ch": ["ч"],
        "ph": ["ф"], "th": ["т", "с"], "ck": ["к"], "oo": ["у"], "ee": ["и"], "ya": ["я"], "ja": ["я"],
        "ia": ["я", "ия"],
        "yu": ["ю"], "ju": ["ю"], "yo": ["е"], "jo": ["е"], "ye": ["е"], "iy": ["ий"], "yy": ["ый"],
    ]
}

/// A text typed on the keys of another layout: `ghbdtn` is привет.
enum KeyboardLayout {
    private static let latin = Array("qwertyuiop[]asdfghjkl;'zxcvbnm,.`{}:\"<>~".unicodeScalars)
    private static let cyrillic = Array("йцукенгшщзхъфывапролджэячсмитьбюехъжэбюе".unicodeScalars)
    private static let toCyrillic = Dictionary(zip(latin, cyrillic)) { first, _ in first }
    private static let toLatin = Dictionary(zip(cyrillic, latin)) { first, _ in first }

    /// Returns a folded text as if it had been typed in the other layout, folded again; nil without letters of either,
    /// or with letters of both.
    static func other(_ text: String) -> String? {
        let hasCyrillic = text.unicodeScalars.contains { toLatin[$0] != nil }
        let hasLatin = text.unicodeScalars.contains { (0x61...0x7A).contains($0.value) }
        guard hasCyrillic != hasLatin else { return nil }
        let keys = hasCyrillic ? toLatin : toCyrillic
        return String(String.UnicodeScalarView(text.unicodeScalars.map { keys[$0] ?? $0 })).searchFolded
    }
}
