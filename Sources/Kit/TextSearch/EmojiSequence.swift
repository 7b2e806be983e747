/// An emoji: one pictograph, or several that are joined (UTS #51, ED-16).
struct EmojiSequence: Equatable {
    /// Its pictographs, each with its skin tone or tags; a flag is one.
    let elements: [String]

    /// The most joined pictographs of an emoji that count.
    private static let mostElements = 8

    /// Returns the emoji of a token.
    static func sequences(in text: Substring) -> [EmojiSequence] {
        var sequences: [EmojiSequence] = []
        var elements: [String] = []
        var (isJoined, isHalfFlag) = (false, false)
        for scalar in text.unicodeScalars {
            let isModifier = scalar.isEmojiTag || scalar.isSkinTone && !isJoined
            if scalar == "\u{200D}" {
                isJoined = true
                continue
            }
            if let last = elements.last, isModifier || isHalfFlag && scalar.isRegionalIndicator {
                elements[elements.count - 1] = last + String(scalar)
                isHalfFlag = false
                continue
            }
            if !isJoined, !elements.isEmpty {
                sequences.append(EmojiSequence(elements: elements))
                elements = []
            }
            if elements.count < mostElements { elements.append(String(scalar)) }
            (isJoined, isHalfFlag) = (false, scalar.isRegionalIndicator)
        }
        return elements.isEmpty ? sequences : sequences + [EmojiSequence(elements: elements)]
    }

    /// The term that finds it.
    var term: String { elements.joined(separator: "\u{200D}") }

    /// The terms under which it is found: itself, its parts, and all of them without skin tones.
    var terms: Set<String> {
        var terms: Set<String> = []
        for elements in [elements, elements.map(Self.withoutTone)] {
            for start in elements.indices {
                for end in start..<elements.count {
                    terms.insert(elements[start...end].joined(separator: "\u{200D}"))
                }
            }
        }
        return terms
    }

    private static func withoutTone(_ element: String) -> String {
        let plain = String(String.UnicodeScalarView(element.unicodeScalars.filter { !$0.isSkinTone }))
        return plain.isEmpty ? element : plain
    }
}
