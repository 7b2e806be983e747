/// What pages keep of their documents. Everything that is not listed is left behind, also what later versions of PDF
/// add.
enum KeptKeys {
    /// Keys of page dictionaries (ISO 32000-1 table 30). `/Parent` is the library's.
    static let ofPages = set(
        "Type Parent Resources MediaBox CropBox BleedBox TrimBox ArtBox Contents Rotate Group UserUnit Annots"
    )

    /// Kinds of annotations: marks, text and drawings, and the fields of forms as they look (ISO 32000-1 table 169).
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

    /// Keys of all other dictionaries that are reached from a page, and of the layers.
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

    /// Returns what the keys of the dictionary at a key mean.
    static func meaning(of key: PDFName) -> PageFilter.Meaning { meanings[key] ?? .keys }

    private static let meanings: [PDFName: PageFilter.Meaning] = [
        "/Resources": .resources, "/AP": .appearances, "/CharProcs": .names, "/Colorants": .names,
    ]

    private static func set(_ names: String) -> Set<PDFName> {
        Set(names.split(separator: " ").map { PDFName("/\($0)") })
    }
}
