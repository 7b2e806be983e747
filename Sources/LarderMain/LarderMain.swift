import Larder

/// The program `larder`.
@main enum LarderMain {
    static func main() async { await LarderProgram.main() }
}
