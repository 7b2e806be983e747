import Foundation

/// The rules of PDF/A-2b (ISO 19005-2) for the parts that documents of photos and text may have, by the clauses of the
/// standard. Rules that qpdf itself obeys are left out, such as the form of the table of objects. Parts that such
/// documents never need (annotations, forms, actions, layers, attachments) are always a fault.
struct ArchivalCheck {
    private let document: ReadDocument
    private(set) var faults: [String] = []

    init(_ document: ReadDocument) {
        self.document = document
        checkFile()
        checkMetadata()
        checkOutputIntent()
        for dictionary in document.dictionaries { check(dictionary) }
        for page in document.pages { check(page: page) }
    }

    private mutating func require(_ clause: String, _ isHeld: Bool, _ detail: String = "") {
        if !isHeld { faults.append("\(clause) \(detail)") }
    }

    private mutating func checkFile() {
        let bytes = document.bytes
        require("6.1.2 header", bytes.starts(with: Array("%PDF-1.".utf8)) && bytes[8] == 0x0A && bytes[9] == 0x25)
        require("6.1.2 comment", bytes[10..<14].allSatisfy { $0 > 127 })
        require("6.1.3 identity", document.list(document.trailer["/ID"]).count == 2)
        require("6.1.3 encryption", document.trailer["/Encrypt"] == nil)
        require("6.1.3 end", bytes.suffix(6).elementsEqual("%%EOF\n".utf8))
        let keyword = Data("endstream".utf8)
        var rest = Data(bytes)
        while let place = rest.range(of: keyword) {
            require("6.1.7.1 endstream", rest[place.lowerBound - 1] == 0x0A, "a stream without a line end")
            rest = rest[place.upperBound...]
        }
    }

    private mutating func checkMetadata() {
        let reference = document.catalog["/Metadata"]
        let dictionary = document.dictionary(reference) ?? [:]
        require("6.6.2.1 metadata", dictionary["/Subtype"] as? String == "/XML" && dictionary["/Filter"] == nil)
        let text = String(decoding: document.data(reference) ?? Data(), as: UTF8.self)
        require("6.6.2.1 packet", text.hasPrefix("<?xpacket begin=\"\u{FEFF}\" id=\"W5M0MpCehiHzreSzNTczkc9d\"?>"))
        require("6.6.4 part", text.contains("<pdfaid:part>2</pdfaid:part>"))
        require("6.6.4 conformance", text.contains("<pdfaid:conformance>B</pdfaid:conformance>"))
        var open: [Substring] = []
        for tag in text.matches(of: /<(\/?)([a-zA-Z][\w:]*)[^<>]*>/) {
            if tag.1.isEmpty { open.append(tag.2) } else { require("6.6.2.1 XML", open.popLast() == tag.2, "\(tag.0)") }
        }
        let rest = text.replacing(/<[^<>]*>/, with: "").replacing(/&(amp|lt|gt);/, with: "")
        require("6.6.2.1 XML", open.isEmpty && !rest.contains(/[<&]/), text)
        let title = (document.dictionary(document.trailer["/Info"])?["/Title"] as? String)?.dropFirst(2)
        let named = text.firstMatch(of: /x-default">(.*?)</).map {
            $0.1.replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
        }
        require("6.6.3 title", title.map { String($0) } == named.map { String($0) }, "\(title ?? "") \(named ?? "")")
    }

    private mutating func checkOutputIntent() {
        let intents = document.list(document.catalog["/OutputIntents"]).compactMap { document.dictionary($0) }
        require("6.2.3 output intent", intents.count == 1 && intents[0]["/S"] as? String == "/GTS_PDFA1")
        check(profile: intents.first?["/DestOutputProfile"], components: 3, ["mntr", "prtr"])
    }

    private mutating func check(profile: Any?, components: Int, _ classes: [String]) {
        let bytes = Array(document.data(profile) ?? Data())
        guard bytes.count >= 128 else { return require("6.2.4.2 profile", false, "none") }
        let space = [1: "GRAY", 3: "RGB ", 4: "CMYK"][components] ?? ""
        let size = bytes[0..<4].reduce(0) { $0 << 8 | Int($1) }
        require("6.2.4.2 size", size == bytes.count, "\(size) \(bytes.count)")
        require("6.2.4.2 class", classes.contains { bytes[12..<16].elementsEqual($0.utf8) })
        require("6.2.4.2 space", bytes[16..<20].elementsEqual(space.utf8) && bytes[8] < 5)
        require("6.2.4.2 N", document.dictionary(profile)?["/N"] as? Int == components)
    }

    private mutating func check(_ dictionary: ReadDocument.Dictionary) {
        for key in dictionary.keys {
            require("6.1.13 name", key.utf8.count <= 127)
            let refused = [
                "/AA", "/OpenAction", "/JS", "/AcroForm", "/Annots", "/OCProperties", "/EF", "/Alternates",
                "/OPI", "/TR", "/HTP", "/Ref", "/PS", "/FFilter", "/FDecodeParms", "/Requirements", "/Perms",
            ]
            require("6 part", !refused.contains(key), key)
        }
        for filter in document.list(dictionary["/Filter"]) {
            let isStandard = ["/FlateDecode", "/DCTDecode"].contains(filter as? String)
            require("6.1.7.2 filter", isStandard, "\(filter)")
        }
        require("6.2.5 TR2", dictionary["/TR2"] == nil || dictionary["/TR2"] as? String == "/Default")
        require("6.2.10 blend", dictionary["/BM"] == nil || dictionary["/BM"] as? String == "/Normal")
        if dictionary["/Subtype"] as? String == "/Image" { check(picture: dictionary) }
        if dictionary["/Type"] as? String == "/Font" { check(font: dictionary) }
        if dictionary["/S"] as? String == "/Transparency" { check(space: dictionary["/CS"]) }
    }

    private mutating func check(picture: ReadDocument.Dictionary) {
        require("6.2.8 interpolate", picture["/Interpolate"] as? Bool != true)
        require("6.2.8 bits", [1, 2, 4, 8, 16].contains(picture["/BitsPerComponent"] as? Int))
        check(space: picture["/ColorSpace"])
    }

    private mutating func check(space: Any?) {
        let parts = document.list(space)
        switch parts.first as? String {
        case "/DeviceRGB", "/DeviceGray": break
        case "/Indexed": check(space: parts[1])
        case "/ICCBased":
            let components = document.dictionary(parts[1])?["/N"] as? Int ?? 0
            check(profile: parts[1], components: components, ["scnr", "mntr", "prtr", "spac"])
        default: require("6.2.4.3 colours", false, "\(parts)")
        }
    }

    private mutating func check(page: ReadDocument.Dictionary) {
        let box = document.list(page["/MediaBox"]).compactMap { ($0 as? NSNumber)?.doubleValue }
        let sides = box.count == 4 ? [box[2] - box[0], box[3] - box[1]] : []
        require("6.1.13 page", sides.count == 2 && sides.allSatisfy { (3...14400).contains($0) }, "\(box)")
        require("6.2.2 resources", document.dictionary(page["/Resources"]) != nil)
        let content = document.content(of: page)
        require("6.2.4.3 CMYK", !content.contains(/[\d.] [kK]\b/))
        for hex in content.replacing(/<<.*?>>/, with: "").matches(of: /<((?:[0-9a-fA-F]{4})+)>/) {
            let codes = stride(from: 0, to: hex.1.count, by: 4).map { hex.1.dropFirst($0).prefix(4) }
            require("6.2.11.8 .notdef", !codes.contains("0000"), "\(hex.0)")
        }
    }

    private mutating func check(font: ReadDocument.Dictionary) {
        let subtype = font["/Subtype"] as? String ?? ""
        let descriptor = document.dictionary(font["/FontDescriptor"]) ?? [:]
        let program = descriptor["/FontFile2"] ?? descriptor["/FontFile3"] ?? descriptor["/FontFile"]
        require("6.2.11.4 embedded", ["/Type0", "/Type3"].contains(subtype) || program != nil, subtype)
        switch subtype {
        case "/Type0":
            require("6.2.11.3 encoding", font["/Encoding"] as? String == "/Identity-H")
            require("6.2.11.7 unicode", font["/ToUnicode"] != nil)
        case "/CIDFontType2":
            require("6.2.11.3.2 map", font["/CIDToGIDMap"] as? String == "/Identity")
            check(widths: document.list(font["/W"]), of: document.data(program) ?? Data())
        case "/CIDFontType0": break
        case "/TrueType", "/Type1", "/Type3":
            let codes = (font["/FirstChar"] as? Int, font["/LastChar"] as? Int)
            let count = document.list(font["/Widths"]).count
            require("6.2.11.2 widths", codes.0.flatMap { first in codes.1.map { $0 - first + 1 } } == count)
            guard subtype == "/TrueType" else { return }
            require("6.2.11.6 symbols", descriptor["/Flags"] as? Int == 32)
            require("6.2.11.6 encoding", font["/Encoding"] as? String == "/WinAnsiEncoding")
        default: require("6.2.11.2 kind", false, subtype)
        }
    }

    /// Compares widths with those of a TrueType program, in thousandths of an em.
    private mutating func check(widths: [Any], of program: Data) {
        let bytes = Array(program)
        func number(_ at: Int, _ count: Int = 2) -> Int { bytes[at..<(at + count)].reduce(0) { $0 << 8 | Int($1) } }
        func table(_ name: String) -> Int? {
            (0..<number(4)).map { 12 + 16 * $0 }.first { bytes[$0..<($0 + 4)].elementsEqual(name.utf8) }
                .map { number($0 + 8, 4) }
        }
        guard bytes.count > 12, let head = table("head"), let hhea = table("hhea"), let hmtx = table("hmtx"),
            widths.first as? Int == 0, let stated = widths.last as? [Any]
        else { return require("6.2.11.5 program", false) }
        let (unit, measured) = (Double(number(head + 18)), number(hhea + 34))
        for (glyph, width) in stated.enumerated() {
            let real = Double(number(hmtx + 4 * min(glyph, measured - 1))) * 1000 / unit
            let width = (width as? NSNumber)?.doubleValue ?? -1
            require("6.2.11.5 width", abs(real - width) <= 1, "glyph \(glyph): \(width), not \(real)")
        }
    }
}
