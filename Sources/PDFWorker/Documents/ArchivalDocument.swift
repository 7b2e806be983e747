import CQPDF
import Foundation

/// The parts that PDF/A-2b (ISO 19005-2) requires beside the pages. Documents of photos and text have them and are
/// marked, so that documents of their pages can be PDF/A again. Imported pages may be of any kind.
enum ArchivalDocument {
    private static let conformance = "<pdfaid:part>2</pdfaid:part><pdfaid:conformance>B</pdfaid:conformance>"

    static let metadataEntries = "/Type /Metadata /Subtype /XML"

    /// Returns the metadata (XMP, ISO 16684-1). They contain no times, so that the same input gives the same bytes.
    static func metadata(title: String?) -> Data {
        let name = title.flatMap { $0.isEmpty ? nil : Self.escaped($0) }.map {
            "<dc:title><rdf:Alt><rdf:li xml:lang=\"x-default\">\($0)</rdf:li></rdf:Alt></dc:title>"
        }
        let text = """
            <?xpacket begin="\u{FEFF}" id="W5M0MpCehiHzreSzNTczkc9d"?>
            <x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
            <rdf:Description rdf:about="" xmlns:pdfaid="http://www.aiim.org/pdfa/ns/id/" \
            xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:pdf="http://ns.adobe.com/pdf/1.3/">
            \(conformance)<pdf:Producer>Larder</pdf:Producer>\(name ?? "")
            </rdf:Description></rdf:RDF></x:xmpmeta>
            <?xpacket end="r"?>
            """
        return Data(text.utf8)
    }

    /// Whether metadata mark a PDF/A document of Larder.
    static func isMarked(_ metadata: Data) -> Bool { metadata.range(of: Data(conformance.utf8)) != nil }

    /// The entries of the output intent, by which colours without a profile are sRGB. The profile of sRGB is
    /// `/DestOutputProfile`.
    static let outputIntent =
        "/Type /OutputIntent /S /GTS_PDFA1 /OutputConditionIdentifier (sRGB) /Info (sRGB IEC61966-2.1)"

    /// Returns a text escaped for XML, without the characters that XML forbids.
    private static func escaped(_ text: String) -> String {
        text.unicodeScalars.reduce(into: "") { result, scalar in
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\u{FFFE}", "\u{FFFF}": break
            case _ where scalar.properties.generalCategory == .control: break
            default: result.unicodeScalars.append(scalar)
            }
        }
    }
}

extension PDFFile {
    /// Whether the document is marked as PDF/A-2b by Larder. The mark is not reliable in a document that a client has
    /// sent.
    func isArchival() throws -> Bool {
        let metadata = qpdf_oh_get_key(handle, qpdf_get_root(handle), "/Metadata")
        defer { release(metadata) }
        guard qpdf_oh_is_stream(handle, metadata) != 0 else { return false }
        return try data(of: metadata, decodeLevel: qpdf_dl_none).map(ArchivalDocument.isMarked) ?? false
    }

    /// Adds the parts that make a document PDF/A-2b. Its pages must conform already.
    func makeArchival(title: String?) throws {
        guard let sRGB = ICCProfile.sRGB else { return }
        let metadata = try stream(ArchivalDocument.metadataEntries, ArchivalDocument.metadata(title: title))
        let profile = try stream("/N 3", sRGB.bytes)
        let intent = try object("<< \(ArchivalDocument.outputIntent) >>")
        qpdf_oh_replace_key(handle, intent, "/DestOutputProfile", profile)
        let intents = try array([intent])
        qpdf_oh_replace_key(handle, qpdf_get_root(handle), "/Metadata", metadata)
        qpdf_oh_replace_key(handle, qpdf_get_root(handle), "/OutputIntents", intents)
        for object in [metadata, profile, intent, intents] { release(object) }
        try check()
    }

    private func stream(_ entries: String, _ data: Data) throws -> Object {
        let stream = qpdf_oh_new_stream(handle)
        let none = qpdf_oh_new_null(handle)
        defer { release(none) }
        try replaceData(of: stream, by: data, filter: none, parameters: nil)
        let dictionary = qpdf_oh_get_dict(handle, stream)
        defer { release(dictionary) }
        try add(entries, to: dictionary)
        return stream
    }

    /// Adds entries in PDF notation to a dictionary.
    func add(_ entries: String, to dictionary: Object) throws {
        let added = try object("<< \(entries) >>")
        defer { release(added) }
        for key in keys(of: added) { with(key, of: added) { qpdf_oh_replace_key(handle, dictionary, key.bytes, $0) } }
    }
}
