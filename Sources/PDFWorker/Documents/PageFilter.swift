import CQPDF
import MediaFormats

/// Reduces pages to their visible parts before they are copied into a document.
///
/// Pages keep only the keys in ``KeptKeys``. They lose everything else: actions, scripts, attachments, multimedia,
/// metadata, and references to other files. The same applies to all dictionaries to which a page refers, directly or
/// through others.
final class PageFilter {
    typealias Object = PDFFile.Object

    /// The kind of the keys of a dictionary.
    enum Meaning {
        /// Keys of ISO 32000-1.
        case keys
        /// Names that the document has chosen.
        case names
        /// The categories of a resource dictionary.
        case resources
        /// The keys of an annotation's appearances.
        case appearances
    }

    private let file: PDFFile
    private let keepsMetadata: Bool
    private let isTypeset: Bool
    private let resources: UsedResources
    /// Numbers of the objects that were visited.
    private var seen: Set<Int32> = []
    private var keepsSeenLayersOnly = false
    private var open: [(object: Object, meaning: Meaning)] = []

    private var handle: qpdf_data? { file.handle }

    /// - Parameters:
    ///   - keepsMetadata: Whether photos keep their metadata.
    ///   - isTypeset: Whether cairo has drawn the pages, which then become PDF/A.
    /// - Throws: ``JobError`` if the pages cannot be read.
    init(_ file: PDFFile, keepsMetadata: Bool = false, isTypeset: Bool = false) throws {
        self.file = file
        self.keepsMetadata = keepsMetadata
        self.isTypeset = isTypeset
        resources = UsedResources(file)
        // Pages count as visited, because a page to which an object refers must not be reduced as one: pages keep other
        // keys.
        for index in 0..<(try file.pageCount()) {
            let page = try file.page(index)
            seen.insert(qpdf_oh_get_object_id(file.handle, page))
            file.release(page)
        }
    }

    /// Reduces a page.
    ///
    /// - Throws: ``JobError`` `damaged` if a part of its content or an object that it draws is missing.
    func clean(_ page: Object) throws {
        guard qpdf_oh_is_dictionary(handle, page) != 0 else { throw JobError.damaged("a page is missing") }
        for key in file.keys(of: page) where !KeptKeys.ofPages.contains(key) {
            qpdf_oh_remove_key(handle, page, key.bytes)
        }
        file.removeSenselessCropBox(of: page)
        try checkContents(of: page)
        try cleanAnnotations(of: page)
        try resources.reduce(page)
        for key in file.keys(of: page) where !["/Parent", "/Contents", "/Annots"].contains(key) { push(key, of: page) }
        try visitOpen()
    }

    private func cleanAnnotations(of page: Object) throws {
        try AnnotationFilter(file).clean(page) { annotation in
            let number = qpdf_oh_get_object_id(handle, annotation)
            if number != 0 { seen.insert(number) }
            for key in file.keys(of: annotation) where key != "/A" { push(key, of: annotation) }
        }
    }

    private func visitOpen() throws {
        while let (object, meaning) = open.popLast() {
            defer { file.release(object) }
            try visit(object, meaning)
        }
    }

    /// Reduces the layers of the document to those of the reduced pages.
    func cleanLayers(_ layers: Object) throws {
        keepsSeenLayersOnly = true
        push(qpdf_oh_new_object(handle, layers), .keys)
        try visitOpen()
    }

    /// Checks that the content of a page, which is one stream or several, is complete.
    private func checkContents(of page: Object) throws {
        func check(_ part: Object) throws {
            if file.isLost(part) { throw JobError.damaged("a part of a page is missing") }
            if qpdf_oh_is_stream(handle, part) != 0 { try visit(part, .keys) }
        }
        try file.with("/Contents", of: page) { contents in
            try check(contents)
            try file.forEachItem(of: contents, check)
        }
        try file.check()
    }

    private func visit(_ object: Object, _ meaning: Meaning) throws {
        let number = qpdf_oh_get_object_id(handle, object)
        if number != 0, !seen.insert(number).inserted { return }
        if qpdf_oh_is_array(handle, object) != 0 {
            if keepsSeenLayersOnly { removeUnseenLayers(from: object) }
            for index in 0..<qpdf_oh_get_array_n_items(handle, object) {
                push(qpdf_oh_get_array_item(handle, object, index), .keys)
            }
        } else if qpdf_oh_is_stream(handle, object) != 0 {
            let dictionary = qpdf_oh_get_dict(handle, object)
            defer { file.release(dictionary) }
            try visitDictionary(dictionary, .keys)
            if !keepsMetadata { try file.removeMetadata(ofPicture: object, dictionary) }
        } else if qpdf_oh_is_dictionary(handle, object) != 0 {
            try visitDictionary(object, meaning)
        }
        try file.check()
    }

    private func removeUnseenLayers(from array: Object) {
        for index in (0..<qpdf_oh_get_array_n_items(handle, array)).reversed() {
            let item = qpdf_oh_get_array_item(handle, array, index)
            defer { file.release(item) }
            guard qpdf_oh_is_dictionary(handle, item) != 0, file.name("/Type", of: item) == "/OCG",
                !seen.contains(qpdf_oh_get_object_id(handle, item))
            else { continue }
            qpdf_oh_erase_item(handle, array, index)
        }
    }

    /// Corrects parts of cairo's output that PDF/A does not allow (ISO 19005-2 6.2.8, 6.2.11.3.2).
    private func conform(_ dictionary: Object) {
        qpdf_oh_remove_key(handle, dictionary, "/Interpolate")
        guard file.name("/Subtype", of: dictionary) == "/CIDFontType2",
            qpdf_oh_has_key(handle, dictionary, "/CIDToGIDMap") == 0
        else { return }
        let identity = qpdf_oh_new_name(handle, "/Identity")
        qpdf_oh_replace_key(handle, dictionary, "/CIDToGIDMap", identity)
        file.release(identity)
    }

    private func visitDictionary(_ dictionary: Object, _ meaning: Meaning) throws {
        if isTypeset, meaning == .keys { conform(dictionary) }
        for key in file.keys(of: dictionary) {
            switch meaning {
            case .keys where !mayStay(key, in: dictionary), .resources where KeptKeys.ofResources[key] == nil,
                .appearances where !["/N", "/D", "/R"].contains(key):
                qpdf_oh_remove_key(handle, dictionary, key.bytes)
            case .keys: push(key, of: dictionary)
            case .resources: push(qpdf_oh_get_key(handle, dictionary, key.bytes), KeptKeys.ofResources[key] ?? .names)
            case .names: push(qpdf_oh_get_key(handle, dictionary, key.bytes), .keys)
            case .appearances: push(qpdf_oh_get_key(handle, dictionary, key.bytes), .names)
            }
        }
    }

    /// Whether a key of a dictionary of any kind is kept. An XObject of PostScript loses its subtype, so that readers
    /// ignore the object.
    private func mayStay(_ key: PDFName, in dictionary: Object) -> Bool {
        guard KeptKeys.ofAll.contains(key) else { return false }
        return key != "/Subtype" || file.name(key, of: dictionary) != "/PS"
    }

    private func push(_ key: PDFName, of dictionary: Object) {
        push(qpdf_oh_get_key(handle, dictionary, key.bytes), KeptKeys.meaning(of: key))
    }

    private func push(_ object: Object, _ meaning: Meaning) {
        if file.isContainer(object) { open.append((object, meaning)) } else { file.release(object) }
    }
}

/// The parts of documents that pages keep. All other keys are removed, including those of later versions of PDF.
enum KeptKeys {
    /// Keys of page dictionaries (ISO 32000-1 table 30). `/Parent` is the library's.
    static let ofPages = set(
        "Type Parent Resources MediaBox CropBox BleedBox TrimBox ArtBox Contents Rotate Group UserUnit Annots"
    )

    /// Kinds of annotations: marks, text and drawings, and the appearances of form fields (ISO 32000-1 table 169).
    static let annotations = set(
        "Text Link FreeText Line Square Circle Polygon PolyLine Highlight Underline Squiggly StrikeOut Stamp Caret Ink "
            + "Widget Watermark Redact"
    )

    /// Keys of annotations (ISO 32000-1 tables 164 to 184), without actions, fields, and references to others.
    static let ofAnnotations = set(
        "Type Subtype Rect Contents NM M F AP AS Border C CA ca OC Lang Name Q DA QuadPoints InkList Vertices L LE IC "
            + "BS BE CL RD IT Cap LL LLE LLO CO Sy Subj T CreationDate H"
    )

    /// Categories of resources (ISO 32000-1 table 33).
    static let ofResources: [PDFName: PageFilter.Meaning] = [
        "/ExtGState": .names, "/ColorSpace": .names, "/Pattern": .names, "/Shading": .names, "/XObject": .names,
        "/Font": .names, "/Properties": .names, "/ProcSet": .keys,
    ]

    /// Keys of all other dictionaries to which a page refers, and of the layers.
    static let ofAll: Set<PDFName> = [common, streams, pictures, fonts, graphics, colors, layers].reduce(into: []) {
        $0.formUnion($1)
    }

    private static let common = set("Type Subtype Name OC CA ca Lang")

    /// Filters and their parameters, and forms (tables 5 to 13, 95, 96).
    private static let streams = set(
        "Length Filter DecodeParms K Columns Rows Predictor Colors BitsPerComponent EarlyChange EndOfLine "
            + "EncodedByteAlign EndOfBlock BlackIs1 DamagedRowsBeforeError ColorTransform JBIG2Globals FormType BBox "
            + "Matrix Resources Group"
    )
    /// Pictures (table 89).
    private static let pictures = set(
        "Width Height ColorSpace Intent ImageMask Mask Decode Interpolate SMask SMaskInData Matte"
    )
    /// Fonts, their descriptors, encodings and programs (tables 111 to 127).
    private static let fonts = set(
        "BaseFont FirstChar LastChar Widths FontDescriptor Encoding ToUnicode FontBBox FontMatrix CharProcs "
            + "DescendantFonts CIDSystemInfo Registry Ordering Supplement DW W DW2 W2 CIDToGIDMap FontName FontFamily "
            + "FontStretch FontWeight Flags ItalicAngle Ascent Descent Leading CapHeight XHeight StemV StemH AvgWidth "
            + "MaxWidth MissingWidth FontFile FontFile2 FontFile3 CharSet CIDSet Style Panose Length1 Length2 Length3 "
            + "BaseEncoding Differences CMapName WMode UseCMap"
    )
    /// Graphics states, patterns, shadings, functions (tables 38 to 41, 58, 75 to 84, 144, 147).
    private static let graphics = set(
        "LW LC LJ ML D RI OP op OPM Font BG BG2 UCR UCR2 TR TR2 FL SM SA BM AIS TK S G BC CS I PatternType PaintType "
            + "TilingType XStep YStep Shading ExtGState ShadingType Background AntiAlias Domain Coords Function Extend "
            + "BitsPerCoordinate BitsPerFlag VerticesPerRow FunctionType Range Size BitsPerSample Order Encode C0 C1 N "
            + "Functions Bounds"
    )
    /// Colour spaces (tables 63 to 72).
    private static let colors = set("Alternate WhitePoint BlackPoint Gamma Colorants Process Components")
    /// Optional content and marked content (tables 98 to 103, 346).
    private static let layers = set(
        "OCGs P VE Usage Print View Export PrintState ViewState ExportState Configs BaseState ON OFF RBGroups Locked "
            + "ListMode AS Event Category MCID ActualText Alt E"
    )

    /// Returns the meaning of the keys of the dictionary at a key.
    static func meaning(of key: PDFName) -> PageFilter.Meaning { meanings[key] ?? .keys }

    private static let meanings: [PDFName: PageFilter.Meaning] = [
        "/Resources": .resources, "/AP": .appearances, "/CharProcs": .names, "/Colorants": .names,
    ]

    private static func set(_ names: String) -> Set<PDFName> {
        Set(names.split(separator: " ").map { PDFName("/\($0)") })
    }
}
