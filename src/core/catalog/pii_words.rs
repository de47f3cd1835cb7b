//! Words of column names that say something about personal data, in six languages.

// Each line of a table is one language: English, German, French, Spanish, Portuguese, Turkish. In it,
// `word` is a whole word, `*stem*` may have letters on the side of the star (compounds that nothing
// separates), and `one_two` is words in that order. All are in lower case, without accents, without
// `PARTICLES`, and without digits at either end of a word (`address1`, `cvv2`).

pub(crate) const MAIL: [&str; 6] = [
    "mail mails *email*",
    "mailadresse",
    "courriel *courriel*",
    "correo correos *correoelectronico*",
    "correio_eletronico correio_electronico *correioeletronico*",
    "e_posta *eposta* elektronik_posta",
];

/// Credentials: whoever has one can act as its owner.
pub(crate) const SECRET: [&str; 6] = [
    "*passw* passphrase passcode pass_phrase pass_code user_pass db_pass pwd pin *token *secret *apikey* \
     api_key access_key private_key secret_key credential credentials jwt otp cvv cvc ccv security_code",
    "*kennwort* geheimzahl kartenprufnummer kartenpruefnummer",
    "*motdepasse* mot_passe mdp jeton cryptogramme",
    "*contrasen* clave_acceso clave_secreta clave_usuario",
    "senha senhas *palavrapasse* palavra_passe",
    "sifre* parola parolasi",
];

pub(crate) const BIRTH: [&str; 6] = [
    "*birth* bday dob born",
    "*geburt* geb gebdat gebdatum",
    "*naissance* naiss datenaiss *anniversaire*",
    "*nacimiento* nac nacim fecnac fechanac fnac cumpleanos",
    "*nascimento* nasc nascim dtnasc datanasc data_aniversario",
    "*dogum*",
];

/// Numbers by which a state, an insurer or a bank identifies a person.
pub(crate) const NATIONAL_ID: [&str; 6] = [
    "*ssn *socialsecurity* social_security national_insurance national_id *nationalid* national_number \
     national_no national_identi* personal_id social_insurance nin citizen_id identity_card identity_number \
     identity_no id_card *idcard* tax_id taxid tax_number tax_no tax_identi* *passport* driver*_licen* \
     driving_licen* *driverlicen* *driverslicen* aadhaar aadhar iban",
    "*personalausweis* ausweis *ausweisn* *reisepass* passnummer pass_nummer passnr pass_nr *fuhrerschein* \
     *fuehrerschein* *sozialversicherung* svnr steuer_id steuerid *steuernummer* steuernr steuer_n*",
    "*passeport* *securitesociale* securite_sociale numero_secu nir cni identite identifiant_national \
     permis_conduire identifiant_fiscal numero_fiscal",
    "dni nif nie curp cedula *pasaporte* documento_identidad seguridad_social licencia_conducir carne_conducir",
    "cpf rg cnh niss *passaporte* *identidade cartao_cidadao seguranca_social carteira_motorista contribuinte",
    "tckn tc_kimlik* *tckimlik* tcno tc_no kimlik_n* kimlikno *pasaport* vergi_n* *ehliyet*",
];

/// People, and names that only people have; see also `NAMED`.
pub(crate) const PERSON: [&str; 6] = [
    "person salesperson *firstname* first_name name_first *lastname* last_name name_last *surname* *fullname* \
     full_name *forename* *givenname* given_name name_given *familyname* family_name *middlename* middle_name \
     name_middle *maidenname* maiden_name personal_name fname lname mname f_name l_name login_name loginname",
    "*vorname* *nachname* *familienname* *maedchenname* *madchenname* kontaktperson *ansprechp*",
    "personne *prenom* nom_famille *nomfamille* nom_complet *nomcomplet* nom_usage nom_jeune_fille",
    "persona *apellido* *nombrecompleto* nombre_completo primer_nombre segundo_nombre",
    "pessoa *sobrenome* apelido *nomecompleto* nome_completo primeiro_nome ultimo_nome",
    "kisi *soyad* *soyisim* *soyismi*",
];

pub(crate) const ADDRESS: [&str; 6] = [
    "*address* addr *addr street remote_ip client_ip user_ip",
    "*adress* *anschrift* adr *strasse strassenname *hausnummer* hausnr",
    "domicile rue",
    "*direccion* domicilio calle",
    "*endereco* morada logradouro rua",
    "adres adresler *adresi sokak cadde",
];

pub(crate) const PHONE: [&str; 6] = [
    "*phone* tel fax mobile_no mobile_num mobile_number mobileno mobilenumber cell_no cell_num cell_number \
     contact_mobile customer_mobile user_mobile contact_no contact_number contact_info msisdn landline",
    "*telefon* telnr telefax *handynummer* handynr handy_nr handy_nummer *mobilnummer* mobilnr mobil_nr \
     mobil_nummer *rufnummer*",
    "gsm num_portable numero_portable *telecopie*",
    "tlf telf movil celular",
    "*telemovel* *telemoveis*",
    "telno cep_no cep_numarasi faks",
];

pub(crate) const CARD: [&str; 6] = [
    "card *creditcard* *debitcard* cardno cardnumber cardholder cc_no cc_number *bankaccount* bank_account",
    "karte *kreditkarte* bankkarte girokarte kartennummer kartenummer kartennr karten_nr karten_nummer",
    "carte *cartebancaire*",
    "tarjeta",
    "cartao *cartaocredito*",
    "kart karti *kredikart* kartno",
];

/// Words for a name, then words for people: `customer_name`, `nom_client`, `kundenname`. Neither is personal by
/// itself: a `name` may be a product's, a `customer` a key.
pub(crate) const NAMED: [&str; 6] = [
    "name names = customer cust client buyer person contact employee emp worker staff manager supervisor \
     director user member guest owner holder cardholder patient doctor physician nurse student pupil teacher \
     instructor professor driver pilot passenger tenant applicant candidate recipient donor spouse father \
     mother parent child guardian dependent author reviewer player coach",
    "name namen = kunde kunden person personen kontakt mitarbeiter benutzer nutzer mitglied mitglieds inhaber \
     kontoinhaber karteninhaber patient patienten arzt schuler schueler lehrer fahrer empfanger empfaenger",
    "nom noms = client cliente personne contact employe salarie utilisateur adherent titulaire patient medecin \
     eleve etudiant enseignant professeur pere mere conjoint",
    "nombre nombres = cliente persona contacto empleado trabajador usuario socio titular paciente medico \
     alumno estudiante profesor maestro padre madre",
    "nome nomes = cliente pessoa contato contacto funcionario empregado usuario utilizador socio titular \
     paciente medico aluno estudante professor pai mae",
    "ad adi isim ismi = musteri kisi calisan personel kullanici uye hasta doktor ogrenci ogretmen anne baba",
];

/// Too common to be personal inside a longer name: `mobile_app`, `last_login`.
pub(crate) const ALONE: &str = "mobile cell cellular login handy mobil portable";

/// Match the patterns above but are not personal.
pub(crate) const INNOCENT: &str = "births birthstone* geburten* renaissance* *connaissance* renacimiento renascimento \
    voicemail* phonetic* phoneme phonemes phonemic *saxophone* *microphone* headphone* earphone* gramophone* \
    xylophone* anglophone* francophone* lusophone* addressable addressing adresseur redireccion* web_address \
    per_person pro_person par_personne por_persona por_pessoa kisi_basi yellow_card red_card score_card \
    wild_card report_card post_card card_game*";

/// A name that ends with one of these counts, sorts or describes: `birth_rate`, `card_type`, `emailserver`.
pub(crate) const ABOUT: &str = "count counts rate rates ratio percent pct avg average type types status flag format \
    template server host port length typ typen art anzahl statut tipo cantidad quantidade tip tipi turu durum \
    durumu sayi sayisi adet";

/// A name that begins with one of these does the same: `tipo_tarjeta`, `has_phone`. `is` is missing because it means
/// work in Turkish: `is_telefonu`.
pub(crate) const ABOUT_WHAT_FOLLOWS: &str =
    "count total avg average type types typ tipo anzahl cantidad quantidade nb has require requires";

/// A name that ends with one of these is a key, unless it names a number that is personal (`national_id`) or the word
/// is part of the term (`email_id`).
pub(crate) const KEYS: &str = "id ids uuid key ref fk code cod codigo kod kodu";

/// Carry no meaning between the words of a phrase: `date_of_birth`, `nom_du_client`, `mot_de_passe`.
pub(crate) const PARTICLES: &str = "of the de du des del la le les da do dos das von der";
